/// The address of a Bluetooth device (BD_ADDR), such as AA:BB:CC:DD:EE:FF.
public struct BluetoothAddress: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  /// Six pairs of hexadecimal digits, of either case, with colons between them; nil for anything else.
  public init?(_ text: String) {
    self.init(text.split(separator: ":", omittingEmptySubsequences: false))
  }

  /// The device of a BlueZ object, from the object's path: `…/dev_AA_BB_CC_DD_EE_FF`.
  init?(objectPath: String) {
    let name = objectPath.split(separator: "/").last ?? ""
    guard name.hasPrefix("dev_") else { return nil }
    self.init(name.dropFirst(4).split(separator: "_", omittingEmptySubsequences: false))
  }

  private init?(_ parts: [Substring]) {
    let bytes = parts.compactMap { part in
      part.utf8.count == 2 && part.allSatisfy(\.isHexDigit) ? UInt8(part, radix: 16) : nil
    }
    guard parts.count == 6, bytes.count == 6 else { return nil }
    self.bytes = bytes
  }

  /// In upper case, as BlueZ writes it.
  public var description: String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
  }
}
