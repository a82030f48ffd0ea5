import SDLMessages
import SDLWire

extension FuzzTarget {
  /// RPCs: their JSON, and the values that are read from it.
  static let messages = [
    FuzzTarget("json", bytesPerInputByte: 64) { checkJSON($0) },
    FuzzTarget("rpc-values", bytesPerInputByte: 64, baseByteCount: 32 << 10) { bytes in
      var input = FuzzInput(bytes)
      while !input.isEmpty { checkValues(input.parameters()) }
    },
  ]

  /// What was read can be written and read again.
  private static func checkJSON(_ bytes: [UInt8]) {
    if let rpc = try? RPCMessage(payload: bytes) { checkValues(rpc.parameters) }
    guard let object = try? JSONObject(parsing: bytes) else { return }
    let again = object.serialized
    rule((try? JSONObject(parsing: again).serialized) == again, "JSON that can't be read again")
    checkValues(object)
  }

  private static func checkValues(_ object: JSONObject) {
    checkValue(HMIStatus.self, object)
    checkValue(RegisterAppInterface.self, object)
    checkValue(RegisterAppInterfaceResponse.self, object)
    checkValue(SystemCapability.self, object)
    checkValue(VideoStreamingCapability.self, object)
    checkValue(OnTouchEvent.self, object)
    checkValue(SendHapticData.self, object)
    checkValue(OnPermissionsChange.self, object)
    checkValue(OnDriverDistraction.self, object)
    checkValue(RPCResult.self, object)
  }

  /// A value that was written is the same when it is read, and written and read again.
  private static func checkValue<Value: RPCParameters>(_ type: Value.Type, _ object: JSONObject) {
    let value = Value(json: Value(json: object).json)
    rule(Value(json: value.json) == value, "\(type) changes when it is written: \(value)")
  }
}
