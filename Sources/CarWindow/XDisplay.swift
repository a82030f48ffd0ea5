import CXCB
import Glibc

/// A connection to an X server. Used by one thread; ``CarWindow/stop()`` alone shuts its socket down from others.
final class XDisplay {
  let xcb: CXCBFunctions
  let connection: OpaquePointer
  let root: xcb_window_t
  /// Of the screen, as far as is known.
  var size: ScreenSize
  private var formerMode: xcb_randr_mode_t?
  private var modeNumber = 0

  /// - Parameters:
  ///   - name: such as `:1`.
  ///   - cookie: of MIT-MAGIC-COOKIE-1; nil is what Xlib would take (XAUTHORITY).
  init(_ name: String, cookie: [UInt8]?) throws(CarWindowError) {
    let functions = try XCB.functions()
    xcb = functions.pointee
    let opened = Self.connect(xcb, name, cookie)
    guard let opened, xcb.xcb_connection_has_error(opened) == 0, let setup = xcb.xcb_get_setup(opened),
      let screen = xcb.xcb_setup_roots_iterator(setup).data?.pointee
    else {
      xcb.xcb_disconnect(opened)
      throw CarWindowError(
        .failed, "The display \"\(name)\" can't be opened: is its X server running, and may this user connect to it?")
    }
    connection = opened
    root = screen.root
    size = ScreenSize(Int(screen.width_in_pixels), Int(screen.height_in_pixels))
    guard screen.root_depth == 24 || screen.root_depth == 32, setup.pointee.image_byte_order == 0 else {
      throw CarWindowError(.failed, "The display \"\(name)\" has \(screen.root_depth) bits for a pixel: 24 are needed")
    }
    for (name, id) in [
      ("DAMAGE", xcb.xcb_damage_id), ("RANDR", xcb.xcb_randr_id), ("MIT-SHM", xcb.xcb_shm_id),
      ("XFIXES", xcb.xcb_xfixes_id), ("XTEST", xcb.xcb_test_id),
    ] where xcb.xcb_get_extension_data(connection, id)?.pointee.present != 1 {
      throw CarWindowError(.failed, "The display's X server lacks the extension \(name)")
    }
    // Its requests are also answered while another client has grabbed the server, and perhaps hangs.
    _ = xcb.xcb_test_grab_control(connection, 1)
  }

  deinit {
    xcb.xcb_disconnect(connection)
  }

  private static func connect(_ xcb: CXCBFunctions, _ name: String, _ cookie: [UInt8]?) -> OpaquePointer? {
    guard var cookie = cookie.map({ $0.map { CChar(truncatingIfNeeded: $0) } }) else {
      return xcb.xcb_connect_to_display_with_auth_info(name, nil, nil)
    }
    var method = Array("MIT-MAGIC-COOKIE-1".utf8CString)
    return method.withUnsafeMutableBufferPointer { method in
      cookie.withUnsafeMutableBufferPointer { cookie in
        var authorization = xcb_auth_info_t(
          namelen: Int32(method.count - 1), name: method.baseAddress, datalen: Int32(cookie.count),
          data: cookie.baseAddress)
        return xcb.xcb_connect_to_display_with_auth_info(name, &authorization, nil)
      }
    }
  }

  /// To be polled.
  var descriptor: Int32 { xcb.xcb_get_file_descriptor(connection) }

  var isLost: Bool { xcb.xcb_connection_has_error(connection) != 0 }

  /// An event that has come; nil if there is none. To be freed.
  func takeEvent() -> UnsafeMutablePointer<xcb_generic_event_t>? { xcb.xcb_poll_for_event(connection) }

  func flush() { _ = xcb.xcb_flush(connection) }

  func atom(_ name: String) -> xcb_atom_t {
    let reply = xcb.xcb_intern_atom_reply(
      connection, xcb.xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name), nil)
    defer { free(reply) }
    return reply?.pointee.atom ?? 0
  }

  /// The 32-bit values of properties, at most 32 of each. All are asked for at once: a server that is flooded with
  /// requests takes long for each answer that is waited for.
  func properties(_ atoms: [xcb_atom_t], of window: xcb_window_t) -> [[UInt32]] {
    atoms.map { xcb.xcb_get_property(connection, 0, window, $0, 0, 0, 32) }.map { cookie in
      guard let reply = xcb.xcb_get_property_reply(connection, cookie, nil) else { return [] }
      defer { free(reply) }
      guard reply.pointee.format == 32, let value = xcb.xcb_get_property_value(reply) else { return [] }
      let length = Int(xcb.xcb_get_property_value_length(reply)) / 4
      return (0..<length).map { value.load(fromByteOffset: $0 * 4, as: UInt32.self) }
    }
  }

  func setProperty(_ atom: xcb_atom_t, of window: xcb_window_t, type: xcb_atom_t, _ values: [UInt32]) {
    _ = xcb.xcb_change_property(connection, 0, window, atom, type, 32, UInt32(values.count), values)
  }

  func setText(_ atom: xcb_atom_t, of window: xcb_window_t, _ text: String) {
    let bytes = Array(text.utf8)
    // XA_STRING
    _ = xcb.xcb_change_property(connection, 0, window, atom, 31, 8, UInt32(bytes.count), bytes)
  }

  /// Lets no other program do anything until ``releaseServer()``; all events that it has caused have come by then.
  func holdServer() {
    _ = xcb.xcb_grab_server(connection)
    _ = geometry(of: root)
  }

  func releaseServer() {
    _ = xcb.xcb_ungrab_server(connection)
    flush()
  }

  /// Others may have changed the size.
  func readSize() {
    guard let geometry = geometry(of: root) else { return }
    size = ScreenSize(Int(geometry.width), Int(geometry.height))
  }

  /// Of a window; nil if it is gone.
  func geometry(of window: xcb_window_t) -> xcb_get_geometry_reply_t? {
    let reply = xcb.xcb_get_geometry_reply(connection, xcb.xcb_get_geometry(connection, window), nil)
    defer { free(reply) }
    return reply?.pointee
  }
}

/// The size of a virtual screen.
extension XDisplay {
  /// Gives the screen of Xvfb another size, which must not be larger than the one that it was started with.
  ///
  /// - Parameter pixelsPerInch: what the screen claims to have.
  func setScreenSize(_ size: ScreenSize, pixelsPerInch: Int) throws(CarWindowError) {
    let failure = CarWindowError(.failed, "The X server rejects the screen size \(size)")
    let cookie = xcb.xcb_randr_get_screen_resources_current(connection, root)
    guard let resources = xcb.xcb_randr_get_screen_resources_current_reply(connection, cookie, nil) else {
      throw failure
    }
    defer { free(resources) }
    guard resources.pointee.num_crtcs > 0, resources.pointee.num_outputs > 0,
      let crtc = xcb.xcb_randr_get_screen_resources_current_crtcs(resources)?.pointee,
      let output = xcb.xcb_randr_get_screen_resources_current_outputs(resources)?.pointee,
      let width = UInt16(exactly: size.width), let height = UInt16(exactly: size.height)
    else { throw failure }
    // No program sees the states in between.
    _ = xcb.xcb_grab_server(connection)
    defer { releaseServer() }
    _ = configure(crtc, mode: nil, output, resources.pointee)
    let millimetres = { (pixels: Int) in UInt32(max(1, pixels * 254 / max(1, pixelsPerInch * 10))) }
    let resized = xcb.xcb_randr_set_screen_size_checked(
      connection, root, width, height, millimetres(size.width), millimetres(size.height))
    if let error = xcb.xcb_request_check(connection, resized) {
      free(error)
      throw failure
    }
    modeNumber += 1
    let name = "\(width)x\(height)-\(modeNumber)"
    var info = xcb_randr_mode_info_t()
    (info.width, info.height, info.htotal, info.vtotal) = (width, height, width, height)
    info.dot_clock = UInt32(width) * UInt32(height) * 60
    info.name_len = UInt16(name.utf8.count)
    let created = xcb.xcb_randr_create_mode(connection, root, info, UInt32(name.utf8.count), name)
    guard let reply = xcb.xcb_randr_create_mode_reply(connection, created, nil) else { throw failure }
    let mode = reply.pointee.mode
    free(reply)
    _ = xcb.xcb_randr_add_output_mode(connection, output, mode)
    guard configure(crtc, mode: mode, output, resources.pointee) else { throw failure }
    if let formerMode {
      _ = xcb.xcb_randr_delete_output_mode(connection, output, formerMode)
      _ = xcb.xcb_randr_destroy_mode(connection, formerMode)
    }
    formerMode = mode
    self.size = size
  }

  private func configure(
    _ crtc: xcb_randr_crtc_t, mode: xcb_randr_mode_t?, _ output: xcb_randr_output_t,
    _ resources: xcb_randr_get_screen_resources_current_reply_t
  ) -> Bool {
    // XCB_RANDR_ROTATION_ROTATE_0
    let cookie = xcb.xcb_randr_set_crtc_config(
      connection, crtc, 0, resources.config_timestamp, 0, 0, mode ?? 0, 1, mode == nil ? 0 : 1, [output])
    let reply = xcb.xcb_randr_set_crtc_config_reply(connection, cookie, nil)
    defer { free(reply) }
    return reply?.pointee.status == 0
  }
}

/// XCB, loaded on first use.
enum XCB {
  private nonisolated(unsafe) static let loaded: (table: UnsafePointer<CXCBFunctions>?, missing: String) = {
    var missing: UnsafePointer<CChar>?
    let table = cxcb_load(&missing)
    return (table, missing.map { String(cString: $0) } ?? "")
  }()

  static func functions() throws(CarWindowError) -> UnsafePointer<CXCBFunctions> {
    guard let table = loaded.table else {
      throw CarWindowError(
        .missing,
        "XCB is incomplete, it lacks \(loaded.missing): install libxcb1, libxcb-damage0, libxcb-randr0, libxcb-shm0, "
          + "libxcb-xfixes0 and libxcb-xtest0")
    }
    return table
  }
}
