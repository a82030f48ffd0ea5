import SDLWire

/// One RPC: binary header, parameters, bulk data.
package struct RPCMessage: Equatable, Sendable {
  package var type: RPCType
  package var function: FunctionID
  /// A response has the id of its request.
  package var correlationID: Int32
  package var parameters: JSONObject
  /// The binary tail; not empty only on the hybrid service.
  package var bulk: [UInt8]

  /// Creates a message; the id of a notification is ignored by its receiver.
  package init(
    type: RPCType, function: FunctionID, correlationID: Int32, parameters: JSONObject = [:], bulk: [UInt8] = []
  ) {
    self.type = type
    self.function = function
    self.correlationID = correlationID
    self.parameters = parameters
    self.bulk = bulk
  }

  package enum Malformed: Error, Equatable, Sendable, CustomStringConvertible {
    case header(RPCHeader.Malformed)
    /// The JSON is not an object; the header could be read.
    case parameters(RPCHeader)

    package var description: String {
      switch self {
      case .header(let reason): reason.description
      case .parameters(let header): "the JSON of \(FunctionID(rawValue: header.functionID)) is no object"
      }
    }
  }

  /// Reads the payload of a message on the RPC or hybrid service (protocol 2 and later).
  package init(payload: [UInt8], as dialect: JSONDialect = .lenient) throws(Malformed) {
    let header: RPCHeader
    do { header = try RPCHeader(payload: payload) } catch { throw .header(error) }
    let body = payload[RPCHeader.byteCount...]
    let parameters: JSONObject
    do {
      parameters = try JSONObject(parsing: body.prefix(Int(header.jsonSize)), as: dialect)
    } catch {
      throw .parameters(header)
    }
    self.init(
      type: header.type, function: FunctionID(rawValue: header.functionID), correlationID: header.correlationID,
      parameters: parameters, bulk: Array(body.dropFirst(Int(header.jsonSize))))
  }

  package var payload: [UInt8] {
    let json = parameters.serialized
    let header = RPCHeader(
      type: type, functionID: function.rawValue, correlationID: correlationID,
      jsonSize: UInt32(truncatingIfNeeded: json.count))
    return header.bytes + json + bulk
  }

  /// The service that the message belongs on.
  package var service: ServiceType { bulk.isEmpty ? .rpc : .hybrid }
}

/// The members that every response has.
package struct RPCResult: RPCParameters {
  /// Decides whether the request was carried out; several codes besides SUCCESS come with true.
  package var success: Bool
  /// The code as it was sent, if it is printable, also if it is unknown here (``ResultCode``).
  package var resultCode: String
  /// Text for logs, printable if it was sent.
  package var info: String?

  /// Creates a result; `info` is a text for logs.
  package init(success: Bool, resultCode: ResultCode, info: String? = nil) {
    self.success = success
    self.resultCode = resultCode.rawValue
    self.info = info
  }

  /// A response without `success` counts as failed.
  package init(json: JSONObject) {
    success = json["success"]?.bool ?? false
    resultCode = json["resultCode"]?.string?.printable(limit: 100) ?? ""
    info = json["info"]?.string?.printable()
  }

  package var json: JSONObject {
    JSONObject(present: [
      "success": .bool(success), "resultCode": .string(resultCode), "info": info.map(JSONValue.string),
    ])
  }
}
