import GStreamerKit
import SDLLink

@testable import Plugin
@testable import PluginTestSupport

/// An application that gets each encoder before it starts (the signal `encoder-setup`).
final class EncoderSetup: Sendable {
  private let change: @Sendable (Element) -> Void
  private let elements = Monitor(Elements())

  private struct Elements: @unchecked Sendable {
    var list: [Element] = []
  }

  init(_ sink: Element, _ change: @escaping @Sendable (Element) -> Void = { _ in }) {
    self.change = change
    let handler: @convention(c) (gpointer?, UnsafeMutablePointer<GstElement>?, gpointer?) -> Void = {
      _, encoder, data in
      guard let encoder, let data else { return }
      gst_object_ref(encoder)
      Unmanaged<EncoderSetup>.fromOpaque(data).takeUnretainedValue().receive(Element(owning: encoder))
    }
    g_signal_connect_data(
      sink.pointer, "encoder-setup", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(self).toOpaque(),
      { data, _ in if let data { Unmanaged<EncoderSetup>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
  }

  private func receive(_ encoder: Element) {
    change(encoder)
    let received = Elements(list: [encoder])
    elements.withLock { $0.list += received.list }
  }

  /// How many encoders there were.
  var count: Int { elements.withLock { $0.list.count } }

  /// Whether nothing but this has the last one any more.
  var isReleased: Bool { elements.withLock { $0 }.list.last?.object.pointee.ref_count == 1 }

  /// A property of the last one.
  func property(_ name: String) -> String? { elements.withLock { $0 }.list.last?[name] }
}
