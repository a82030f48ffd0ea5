import DBus

/// Reads from AT-SPI which parts of a screen can be focused, as assistive technologies do.
///
/// Its calls block; ``cancel()`` ends them, from any thread.
final class AccessibleItems: Sendable {
  /// The most objects that are looked at, and how deep they may be nested.
  private static let maximumObjectCount = 1000
  private static let maximumDepth = 40
  /// Of an answer.
  private static let timeout = Duration.milliseconds(500)
  private static let root = "/org/a11y/atspi/accessible/root"

  private struct Reference {
    var owner: String
    var path: String
  }

  /// AtspiStateType's numbers.
  private struct States {
    private let bits: UInt64

    init(_ answer: borrowing Variant) {
      let low = answer[0]?[0]?.unsigned ?? 0
      let high = answer[0]?[1]?.unsigned ?? 0
      bits = UInt64(high) << 32 | UInt64(low)
    }

    var isShowing: Bool { bits >> 25 & 1 != 0 }
    /// ENABLED or SENSITIVE, of which toolkits set different ones, and FOCUSABLE.
    var canBeFocused: Bool { bits >> 11 & 1 != 0 && (bits >> 8 & 1 != 0 || bits >> 24 & 1 != 0) }
  }

  private let client: BusClient

  /// Nil without GIO, or without the bus.
  init?(address: String) {
    guard let client = BusClient(address: address, timeout: Self.timeout) else { return nil }
    self.client = client
  }

  func cancel() { client.cancel() }

  /// The items of all programs on the bus; an item that contains others is left out.
  func read(on screen: ScreenSize) -> [ScreenArea] {
    var areas: [ScreenArea] = []
    var left = Self.maximumObjectCount
    for program in children(of: Reference(owner: "org.a11y.atspi.Registry", path: Self.root)) {
      // The program itself has no extents and no states.
      for window in children(of: program) { visit(window, screen, Self.maximumDepth, &left, &areas) }
    }
    return areas
  }

  private func visit(
    _ object: Reference, _ screen: ScreenSize, _ depth: Int, _ left: inout Int, _ areas: inout [ScreenArea]
  ) {
    guard depth > 0, left > 0 else { return }
    left -= 1
    guard let answer = call(object, "Accessible", "GetState") else { return }
    let states = States(answer)
    guard states.isShowing else { return }
    let count = areas.count
    for child in children(of: object) { visit(child, screen, depth - 1, &left, &areas) }
    guard areas.count == count, states.canBeFocused, let area = extents(of: object)?.clipped(to: screen) else { return }
    areas.append(area)
  }

  private func children(of object: Reference) -> [Reference] {
    guard let answer = call(object, "Accessible", "GetChildren"), let list = answer[0] else { return [] }
    return (0..<min(list.count, Self.maximumObjectCount)).compactMap { index in
      guard let entry = list[index], let owner = entry[0]?.text, let path = entry[1]?.text, path.hasPrefix("/"),
        path != "/org/a11y/atspi/null"
      else { return nil }
      return Reference(owner: owner, path: path)
    }
  }

  /// On the screen.
  private func extents(of object: Reference) -> ScreenArea? {
    // ATSPI_COORD_TYPE_SCREEN
    guard let answer = call(object, "Component", "GetExtents", "(uint32 0,)"), let place = answer[0],
      let x = place[0]?.integer, let y = place[1]?.integer, let width = place[2]?.integer,
      let height = place[3]?.integer,
      width > 0, height > 0
    else { return nil }
    return ScreenArea(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
  }

  /// Nil as well if the object is gone by now.
  private func call(
    _ object: Reference, _ interface: String, _ method: String, _ arguments: String = "()"
  ) -> Variant? {
    client.call(object.owner, object.path, "org.a11y.atspi.\(interface)", method, arguments)
  }
}
