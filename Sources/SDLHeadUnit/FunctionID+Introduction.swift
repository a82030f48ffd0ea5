import SDLMessages

extension FunctionID {
  /// The RPC version that introduced a request; 1.0 for all before 4.1.
  var introduction: RPCVersion {
    switch rawValue {
    case 41...44, 48, 49: RPCVersion(4, 5)
    case 45...47: RPCVersion(4, 1)
    case 50...55: RPCVersion(5, 1)
    case 56...63: RPCVersion(6)
    case 64: RPCVersion(7)
    default: RPCVersion(1)
    }
  }
}
