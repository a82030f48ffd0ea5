import CXCB
import Glibc

/// The pixels of a screen in memory that is shared with the X server.
final class ScreenCapture {
  private let display: XDisplay
  private let damage: xcb_damage_damage_t
  private let damageEvent: UInt8
  /// Nil if the pointer is not in the picture.
  private let pointer: PointerImage?
  /// Memory for the largest size so far, and its id at the server.
  private var segment: (name: xcb_shm_seg_t, pixels: SharedPixels)?

  /// - Throws: when the server is gone.
  init(_ display: XDisplay, showsPointer: Bool) throws(CarWindowError) {
    self.display = display
    pointer = showsPointer ? try PointerImage(display) : nil
    let xcb = display.xcb
    // A client has to say first which version it knows.
    let version = xcb.xcb_damage_query_version(display.connection, 1, 1)
    guard let reply = xcb.xcb_damage_query_version_reply(display.connection, version, nil),
      let events = xcb.xcb_get_extension_data(display.connection, xcb.xcb_damage_id)
    else { throw CarWindowError(.failed, "The X server does not answer") }
    free(reply)
    damageEvent = events.pointee.first_event
    damage = xcb.xcb_generate_id(display.connection)
    // XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY: one event until ``take()``.
    _ = xcb.xcb_damage_create(display.connection, damage, display.root, 3)
    display.flush()
  }

  deinit {
    detach()
  }

  /// Whether an event says that something has changed since the last ``take()``.
  func isDamage(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> Bool {
    let type = event.pointee.response_type & 0x7F
    return type == damageEvent || type == pointer?.shapeEvent
  }

  /// Copies the whole screen, as BGRx pixels without padding.
  ///
  /// - Returns: the pixels, until the next call overwrites them; nil if the server is gone.
  func take() throws(CarWindowError) -> SharedPixels? {
    if let pixels = try copy() { return pixels }
    // The screen has become smaller since its size was read, or the server is gone.
    display.readSize()
    return try copy()
  }

  private func copy() throws(CarWindowError) -> SharedPixels? {
    let (xcb, size) = (display.xcb, display.size)
    let segment = try attached(byteCount: size.width * size.height * 4)
    // Before the picture, so that later changes are reported again.
    _ = xcb.xcb_damage_subtract(display.connection, damage, 0, 0)
    // XCB_IMAGE_FORMAT_Z_PIXMAP
    let cookie = xcb.xcb_shm_get_image(
      display.connection, display.root, 0, 0, UInt16(clamping: size.width), UInt16(clamping: size.height), .max, 2,
      segment.name, 0)
    guard let reply = xcb.xcb_shm_get_image_reply(display.connection, cookie, nil) else { return nil }
    free(reply)
    pointer?.draw(into: segment.pixels.memory, of: size)
    return segment.pixels
  }

  private func attached(byteCount: Int) throws(CarWindowError) -> (name: xcb_shm_seg_t, pixels: SharedPixels) {
    if let segment, segment.pixels.byteCount >= byteCount { return segment }
    detach()
    // IPC_PRIVATE, IPC_CREAT and for this user alone.
    let id = shmget(0, byteCount, 0o1600)
    guard id >= 0 else { throw Self.failure(String(cString: strerror(errno))) }
    // It lives as long as it is attached somewhere.
    defer { shmctl(id, IPC_RMID, nil) }
    guard let memory = shmat(id, nil, 0), Int(bitPattern: memory) != -1 else {
      throw Self.failure(String(cString: strerror(errno)))
    }
    let pixels = SharedPixels(memory, byteCount)
    let name = display.xcb.xcb_generate_id(display.connection)
    let cookie = display.xcb.xcb_shm_attach_checked(display.connection, name, UInt32(bitPattern: id), 0)
    if let error = display.xcb.xcb_request_check(display.connection, cookie) {
      free(error)
      throw Self.failure("the X server refuses it; is it on this machine, and in the same container?")
    }
    segment = (name, pixels)
    return (name, pixels)
  }

  private static func failure(_ reason: String) -> CarWindowError {
    CarWindowError(.failed, "Can't share memory for the picture with the X server: \(reason)")
  }

  private func detach() {
    guard let segment else { return }
    _ = display.xcb.xcb_shm_detach(display.connection, segment.name)
    self.segment = nil
  }
}

/// Memory that this process and the X server share, as long as one of them uses it.
///
/// `@unchecked Sendable`: the server writes to it only on request, and only its reader makes requests.
final class SharedPixels: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer
  let byteCount: Int

  /// - Parameter memory: as shmat(2) returned it.
  fileprivate init(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    self.memory = memory
    self.byteCount = byteCount
  }

  deinit {
    shmdt(memory)
  }
}

/// The pointer, which X servers leave out of copies of the screen.
final class PointerImage {
  private let display: XDisplay
  /// The type of the event for another shape of the pointer.
  let shapeEvent: UInt8

  /// - Throws: when the server is gone.
  init(_ display: XDisplay) throws(CarWindowError) {
    self.display = display
    let xcb = display.xcb
    let version = xcb.xcb_xfixes_query_version(display.connection, 4, 0)
    guard let reply = xcb.xcb_xfixes_query_version_reply(display.connection, version, nil),
      let events = xcb.xcb_get_extension_data(display.connection, xcb.xcb_xfixes_id)
    else { throw CarWindowError(.failed, "The X server does not answer") }
    free(reply)
    // XCB_XFIXES_CURSOR_NOTIFY, and its mask
    shapeEvent = events.pointee.first_event &+ 1
    _ = xcb.xcb_xfixes_select_cursor_input(display.connection, display.root, 1)
  }

  /// Draws it where it is.
  ///
  /// - Parameters:
  ///   - pixels: of BGRx, without padding.
  ///   - size: of the screen.
  func draw(into pixels: UnsafeMutableRawPointer, of size: ScreenSize) {
    let (xcb, connection) = (display.xcb, display.connection)
    guard
      let reply = xcb.xcb_xfixes_get_cursor_image_reply(connection, xcb.xcb_xfixes_get_cursor_image(connection), nil)
    else { return }
    defer { free(reply) }
    let image = reply.pointee
    let (width, height) = (Int(image.width), Int(image.height))
    guard let colors = xcb.xcb_xfixes_get_cursor_image_cursor_image(reply),
      Int(xcb.xcb_xfixes_get_cursor_image_cursor_image_length(reply)) >= width * height
    else { return }
    let (left, top) = (Int(image.x) - Int(image.xhot), Int(image.y) - Int(image.yhot))
    for row in max(0, -top)..<max(0, -top, min(height, size.height - top)) {
      for column in max(0, -left)..<max(0, -left, min(width, size.width - left)) {
        let place = pixels + ((top + row) * size.width + left + column) * 4
        let former = place.load(as: UInt32.self)
        place.storeBytes(of: Self.blend(colors[row * width + column], over: former), as: UInt32.self)
      }
    }
  }

  /// - Parameter color: ARGB, multiplied by its alpha.
  static func blend(_ color: UInt32, over former: UInt32) -> UInt32 {
    let rest = 255 - color >> 24
    return [0, 8, 16].reduce(0) { sum, shift in
      let value = (color >> shift & 0xFF) + ((former >> shift & 0xFF) * rest + 127) / 255
      return sum | min(value, 255) << shift
    }
  }
}
