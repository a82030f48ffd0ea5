/// The members that every response has.
public struct RPCResult: RPCParameters {
  /// The one to decide on: several codes besides SUCCESS come with true.
  public var success: Bool
  /// As sent, also when unknown here.
  public var resultCode: String
  /// Text for logs.
  public var info: String?

  /// Memberwise.
  public init(success: Bool, resultCode: ResultCode, info: String? = nil) {
    self.success = success
    self.resultCode = resultCode.rawValue
    self.info = info
  }

  /// A response without `success` counts as failed.
  public init(json: JSONObject) {
    success = json["success"]?.bool ?? false
    resultCode = json["resultCode"]?.string ?? ""
    info = json["info"]?.string
  }

  public var json: JSONObject {
    JSONObject(present: [
      "success": .bool(success), "resultCode": .string(resultCode), "info": info.map(JSONValue.string),
    ])
  }
}
