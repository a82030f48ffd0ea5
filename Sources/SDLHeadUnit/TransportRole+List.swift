import SDLWire

extension TransportRole {
  /// A list of a property or a command such as "2,1", or "none"; each at most once. Nil for anything else.
  public static func list(_ text: String) -> [TransportRole]? {
    if text == "none" { return [] }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
    let transports = numbers.compactMap { Int32($0).flatMap(TransportRole.init(rawValue:)) }
    return transports.count == numbers.count && Set(transports).count == numbers.count ? transports : nil
  }
}
