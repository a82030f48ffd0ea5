import GStreamerKit
import SDLLink
import SDLWire

/// The messages between app and head unit: `GST_DEBUG=sdlprotocol:5` shows a line for each.
struct ProtocolLog: MessageTrace {
  static let category = LogCategory("sdlprotocol", "SmartDeviceLink conversation of app and head unit")

  private let name: String

  /// A log of an element, whose name is in the lines.
  init(_ element: UnsafeMutablePointer<GstElement>) {
    name = String(freeing: gst_object_get_name(element.cast())) ?? ""
  }

  var isEnabled: Bool { Self.category.isEnabled(GST_LEVEL_DEBUG) }

  /// A line about the connection that is no message: `GST_DEBUG=sdlprotocol:4` shows it.
  func note(_ line: String) {
    Self.category.log(GST_LEVEL_INFO, nil, "\(name): \(line.printable())")
  }

  func trace(_ line: String) {
    Self.category.log(GST_LEVEL_DEBUG, nil, "\(name): \(line)")
  }
}
