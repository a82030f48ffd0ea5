import SDLWire

extension SecurityQuery {
  /// SendInternalError: a JSON object with id and text, and the id once more after it.
  package static func error(_ code: SecurityErrorCode, _ text: String) -> SecurityQuery {
    let json: JSONObject = ["id": .integer(Int(code.rawValue)), "text": .string(text)]
    return SecurityQuery(
      type: notification, queryID: internalErrorID, sequenceNumber: 0, json: json.serialized, binary: [code.rawValue])
  }

  /// Of SendInternalError: what is wrong, nil for an id that is not known, and the text. SDL's libraries for apps use
  /// ids of their own.
  package var error: (code: SecurityErrorCode?, text: String?) {
    guard queryID == Self.internalErrorID else { return (nil, nil) }
    let object = try? JSONObject(parsing: json)
    let id = object?["id"]?.integer.flatMap { UInt8(exactly: $0) } ?? binary.first
    return (id.flatMap { SecurityErrorCode(rawValue: $0) }, object?["text"]?.string?.printable())
  }
}
