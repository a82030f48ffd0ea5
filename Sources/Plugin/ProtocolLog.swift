import GStreamerKit
import SDLLink

/// What app and head unit say to each other: `GST_DEBUG=sdlprotocol:5` shows a line for each message.
struct ProtocolLog: ConversationListener {
  static let category = LogCategory("sdlprotocol", "SmartDeviceLink conversation of app and head unit")

  private let name: String

  /// For the lines of an element, whose name is in them.
  init(_ element: UnsafeMutablePointer<GstElement>) {
    guard let name = gst_object_get_name(element.cast()) else {
      self.name = ""
      return
    }
    defer { g_free(name) }
    self.name = String(cString: name)
  }

  var isListening: Bool { Self.category.isEnabled(GST_LEVEL_DEBUG) }

  func hear(_ line: String) {
    Self.category.log(GST_LEVEL_DEBUG, nil, "\(name): \(line)")
  }
}
