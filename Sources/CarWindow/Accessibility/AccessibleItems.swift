import CGIO
import DBus

/// Reads from AT-SPI which parts of a screen can be focused, as assistive technologies do.
///
/// Its calls block; ``cancel()`` ends them, from any thread.
final class AccessibleItems: Sendable {
  /// More objects are not looked at, nor objects within so many others.
  private static let maximumObjectCount = 1000
  private static let maximumDepth = 40
  /// Of an answer, in milliseconds.
  private static let timeout: Int32 = 500
  private static let root = "/org/a11y/atspi/accessible/root"

  /// An object of a program.
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

  // The table never changes, and any thread may use a connection and a cancellable.
  nonisolated(unsafe) private let gio: UnsafePointer<CGIOFunctions>
  nonisolated(unsafe) private let connection: OpaquePointer
  nonisolated(unsafe) private let cancellable: OpaquePointer

  /// Nil without GIO, or without the bus.
  init?(address: String) {
    guard let gio = GIO.functions, let cancellable = gio.pointee.g_cancellable_new() else { return nil }
    var error: UnsafeMutablePointer<CGIOError>?
    guard
      let connection = gio.pointee.g_dbus_connection_new_for_address_sync(
        address, CGIO_CLIENT_OF_A_BUS, nil, cancellable, &error)
    else {
      gio.pointee.g_error_free(error)
      gio.pointee.g_object_unref(UnsafeMutableRawPointer(cancellable))
      return nil
    }
    (self.gio, self.connection, self.cancellable) = (gio, connection, cancellable)
  }

  deinit {
    gio.pointee.g_object_unref(UnsafeMutableRawPointer(connection))
    gio.pointee.g_object_unref(UnsafeMutableRawPointer(cancellable))
  }

  func cancel() { gio.pointee.g_cancellable_cancel(cancellable) }

  /// The items of all programs on the bus, those within others in place of these.
  func read(on screen: ScreenSize) -> [ScreenArea] {
    var areas: [ScreenArea] = []
    var left = Self.maximumObjectCount
    for program in children(of: Reference(owner: "org.a11y.atspi.Registry", path: Self.root)) {
      // The program itself has no place, and no states.
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

  /// - Parameter arguments: as GVariant's text.
  private func call(
    _ object: Reference, _ interface: String, _ method: String, _ arguments: String = "()"
  ) -> Variant? {
    var error: UnsafeMutablePointer<CGIOError>?
    // The call takes it over, as it is floating.
    let parameters = gio.pointee.g_variant_parse(nil, arguments, nil, nil, nil)
    let answer = gio.pointee.g_dbus_connection_call_sync(
      connection, object.owner, object.path, "org.a11y.atspi.\(interface)", method, parameters, nil, CGIO_NO_AUTO_START,
      Self.timeout, cancellable, &error)
    // Objects come and go meanwhile.
    if let error { gio.pointee.g_error_free(error) }
    return Variant(owning: answer, gio)
  }
}
