import CXCB
import Glibc

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
