import SDLWire

/// The members that every response has.
public struct RPCResult: RPCParameters {
  /// Decides whether the request was carried out; several codes besides SUCCESS come with true.
  public var success: Bool
  /// The code as it was sent, if it is printable, also if it is unknown here (``ResultCode``).
  public var resultCode: String
  /// Text for logs, printable if it was sent.
  public var info: String?

  /// Creates a result; `info` is a text for logs.
  public init(success: Bool, resultCode: ResultCode, info: String? = nil) {
    self.success = success
    self.resultCode = resultCode.rawValue
    self.info = info
  }

  /// A response without `success` counts as failed.
  public init(json: JSONObject) {
    success = json["success"]?.bool ?? false
    resultCode = json["resultCode"]?.string?.printable(limit: 100) ?? ""
    info = json["info"]?.string?.printable()
  }

  public var json: JSONObject {
    JSONObject(present: [
      "success": .bool(success), "resultCode": .string(resultCode), "info": info.map(JSONValue.string),
    ])
  }
}
