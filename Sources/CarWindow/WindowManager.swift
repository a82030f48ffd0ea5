import CXCB
import Glibc

/// Manages the windows of a screen that shows one program: its windows fill the screen, dialogs are centred above them,
/// none has a frame.
final class WindowManager {
  private let display: XDisplay
  private let atoms: Atoms
  /// The windows that are shown, the lowest first.
  private var windows: [Window] = []
  /// Whether there has been a window.
  private(set) var hasShown = false
  /// An invisible window above all others, of the screen's last pixel: the pointer leaves the program by moving there.
  private let margin: xcb_window_t

  private struct Window {
    let id: xcb_window_t
    let isDialog: Bool
    /// It can't be smaller.
    var least: ScreenSize
  }

  /// WM_NORMAL_HINTS (ICCCM, 4.1.2.3), an atom that every server has.
  private static let normalHints: xcb_atom_t = 40
  /// In its flags.
  private static let hasLeastSize: UInt32 = 1 << 4

  private struct Atoms {
    let transientFor: xcb_atom_t
    let windowType: xcb_atom_t
    let dialogTypes: [xcb_atom_t]
    let state: xcb_atom_t
  }

  /// - Throws: when the screen has a window manager.
  init(_ display: XDisplay) throws(CarWindowError) {
    self.display = display
    atoms = Atoms(
      transientFor: display.atom("WM_TRANSIENT_FOR"), windowType: display.atom("_NET_WM_WINDOW_TYPE"),
      dialogTypes: ["DIALOG", "UTILITY", "SPLASH"].map { display.atom("_NET_WM_WINDOW_TYPE_\($0)") },
      state: display.atom("WM_STATE"))
    let mask = UInt32(XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue)
    let cookie = display.xcb.xcb_change_window_attributes_checked(
      display.connection, display.root, UInt32(XCB_CW_EVENT_MASK.rawValue), [mask])
    if let error = display.xcb.xcb_request_check(display.connection, cookie) {
      free(error)
      throw CarWindowError(.failed, "The X server has a window manager already")
    }
    margin = display.xcb.xcb_generate_id(display.connection)
    // XCB_WINDOW_CLASS_INPUT_ONLY
    _ = display.xcb.xcb_create_window(
      display.connection, 0, margin, display.root, 0, 0, 1, 1, 0, 2, 0,
      UInt32(XCB_CW_OVERRIDE_REDIRECT.rawValue), [1])
    _ = display.xcb.xcb_map_window(display.connection, margin)
    arrange()
  }

  /// All windows fit on a screen of this size.
  var leastSize: ScreenSize {
    ScreenSize(windows.map(\.least.width).max() ?? 1, windows.map(\.least.height).max() ?? 1)
  }

  /// The place of the pointer when it is on no window of the program.
  var pointerRest: ScreenInput { .move(x: display.size.width - 1, y: display.size.height - 1) }

  /// Handles events in their order, those that are about windows. Windows that are gone by the last of them are not asked
  /// about: a program may open and close them faster than the server answers.
  func handle(_ events: [UnsafeMutablePointer<xcb_generic_event_t>]) {
    var ends: [xcb_window_t: Int] = [:]
    var changed: Set<xcb_window_t> = []
    for (index, event) in events.enumerated() {
      let memory = UnsafeMutableRawPointer(event)
      switch Self.type(of: event) {
      case XCB_DESTROY_NOTIFY: ends[memory.load(as: xcb_destroy_notify_event_t.self).window] = index
      case XCB_PROPERTY_NOTIFY:
        let change = memory.load(as: xcb_property_notify_event_t.self)
        if change.atom == Self.normalHints { changed.insert(change.window) }
      default: break
      }
    }
    for (index, event) in events.enumerated() {
      handle(event) { window in ends[window].map { $0 > index } ?? false }
    }
    // However often the program has changed them.
    for index in windows.indices where changed.contains(windows[index].id) {
      windows[index].least = Self.leastSize(display.properties([Self.normalHints], of: windows[index].id)[0])
    }
  }

  private static func type(of event: UnsafeMutablePointer<xcb_generic_event_t>) -> Int32 {
    Int32(event.pointee.response_type & 0x7F)
  }

  private func handle(_ event: UnsafeMutablePointer<xcb_generic_event_t>, isGone: (xcb_window_t) -> Bool) {
    let memory = UnsafeMutableRawPointer(event)
    switch Self.type(of: event) {
    case XCB_MAP_REQUEST:
      let window = memory.load(as: xcb_map_request_event_t.self).window
      hasShown = true
      if !isGone(window) { show(window) }
    case XCB_CONFIGURE_REQUEST:
      let request = memory.load(as: xcb_configure_request_event_t.self)
      if !isGone(request.window) { configure(request) }
    case XCB_UNMAP_NOTIFY: forget(memory.load(as: xcb_unmap_notify_event_t.self).window)
    case XCB_DESTROY_NOTIFY: forget(memory.load(as: xcb_destroy_notify_event_t.self).window)
    // Also of those that the program places itself.
    case XCB_MAP_NOTIFY:
      if memory.load(as: xcb_map_notify_event_t.self).window != margin { raiseMargin() }
    default: break
    }
  }

  /// The screen has another size.
  func arrange() {
    for window in windows { place(window, wanted: nil) }
    configure(
      margin, XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue,
      [UInt32(max(0, display.size.width - 1)), UInt32(max(0, display.size.height - 1))])
    raiseMargin()
  }

  private func raiseMargin() {
    // XCB_STACK_MODE_ABOVE
    configure(margin, XCB_CONFIG_WINDOW_STACK_MODE.rawValue, [0])
  }

  private static func leastSize(_ hints: [UInt32]) -> ScreenSize {
    guard hints.count > 6, hints[0] & hasLeastSize != 0 else { return ScreenSize(1, 1) }
    return ScreenSize(Int(UInt16(clamping: hints[5])), Int(UInt16(clamping: hints[6])))
  }

  private func show(_ id: xcb_window_t) {
    if !windows.contains(where: { $0.id == id }) {
      // Before the hints are read, so that no change of them is missed.
      _ = display.xcb.xcb_change_window_attributes(
        display.connection, id, UInt32(XCB_CW_EVENT_MASK.rawValue), [UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)])
      let values = display.properties([Self.normalHints, atoms.transientFor, atoms.windowType], of: id)
      let window = Window(
        id: id, isDialog: isDialog(transientFor: values[1], types: values[2]), least: Self.leastSize(values[0]))
      place(window, wanted: nil)
      windows.append(window)
    }
    // NormalState, without an icon (ICCCM, 4.1.3.1).
    display.setProperty(atoms.state, of: id, type: atoms.state, [1, 0])
    _ = display.xcb.xcb_map_window(display.connection, id)
    focus(id)
  }

  private func isDialog(transientFor owners: [UInt32], types: [UInt32]) -> Bool {
    // The first window of a program fills the screen whatever it is.
    !windows.isEmpty && (owners.contains { $0 != 0 } || types.contains { atoms.dialogTypes.contains($0) })
  }

  private func configure(_ request: xcb_configure_request_event_t) {
    guard let window = windows.first(where: { $0.id == request.window }) else {
      // A window may have any geometry until it is shown.
      let values: [(mask: xcb_config_window_t, value: UInt32)] = [
        (XCB_CONFIG_WINDOW_X, UInt32(bitPattern: Int32(request.x))),
        (XCB_CONFIG_WINDOW_Y, UInt32(bitPattern: Int32(request.y))),
        (XCB_CONFIG_WINDOW_WIDTH, UInt32(request.width)), (XCB_CONFIG_WINDOW_HEIGHT, UInt32(request.height)),
        (XCB_CONFIG_WINDOW_BORDER_WIDTH, 0),
      ]
      let asked = values.filter { UInt32(request.value_mask) & UInt32($0.mask.rawValue) != 0 }
      return configure(request.window, asked.reduce(0) { $0 | $1.mask.rawValue }, asked.map(\.value))
    }
    place(window, wanted: ScreenSize(Int(request.width), Int(request.height)))
  }

  /// - Parameter wanted: the size of a dialog; nil keeps the present one.
  private func place(_ window: Window, wanted: ScreenSize?) {
    var (x, y, size) = (0, 0, display.size)
    if window.isDialog {
      let own = wanted ?? display.geometry(of: window.id).map { ScreenSize(Int($0.width), Int($0.height)) }
      size = (own ?? ScreenSize(1, 1)).limited(to: display.size)
      (x, y) = ((display.size.width - size.width) / 2, (display.size.height - size.height) / 2)
    }
    let mask =
      XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue | XCB_CONFIG_WINDOW_WIDTH.rawValue
      | XCB_CONFIG_WINDOW_HEIGHT.rawValue | XCB_CONFIG_WINDOW_BORDER_WIDTH.rawValue
    configure(
      window.id, mask, [UInt32(x), UInt32(y), UInt32(max(1, size.width)), UInt32(max(1, size.height)), 0])
    tell(window.id, x, y, size)
  }

  private func configure(_ id: xcb_window_t, _ mask: UInt32, _ values: [UInt32]) {
    _ = display.xcb.xcb_configure_window(display.connection, id, UInt16(truncatingIfNeeded: mask), values)
  }

  /// A program that asked for another size waits for an answer even if it keeps the one that it has (ICCCM, 4.1.5).
  private func tell(_ id: xcb_window_t, _ x: Int, _ y: Int, _ size: ScreenSize) {
    var event = xcb_configure_notify_event_t()
    event.response_type = UInt8(XCB_CONFIGURE_NOTIFY)
    (event.event, event.window) = (id, id)
    (event.x, event.y) = (Int16(clamping: x), Int16(clamping: y))
    (event.width, event.height) = (UInt16(clamping: size.width), UInt16(clamping: size.height))
    withUnsafeBytes(of: &event) { bytes in
      // An event has 32 bytes on the wire.
      var message = [CChar](repeating: 0, count: 32)
      for (index, byte) in bytes.prefix(32).enumerated() { message[index] = CChar(truncatingIfNeeded: byte) }
      _ = display.xcb.xcb_send_event(
        display.connection, 0, id, UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue), message)
    }
  }

  private func forget(_ id: xcb_window_t) {
    guard let index = windows.firstIndex(where: { $0.id == id }) else { return }
    windows.remove(at: index)
    if let top = windows.last { focus(top.id) }
  }

  private func focus(_ id: xcb_window_t) {
    // XCB_INPUT_FOCUS_POINTER_ROOT, at XCB_CURRENT_TIME.
    _ = display.xcb.xcb_set_input_focus(display.connection, 1, id, 0)
  }
}
