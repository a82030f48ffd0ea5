import GStreamerKit
import TestSupport
import Testing

/// What elements share through GstContext.
@Suite struct ContextTypeTests {
  private final class Shared: Sendable {}

  /// GST_DEBUG=2 writes the messages of every application, and warns of what has no text.
  @Test func theLogHasATextForIt() throws {
    let element = TestElement()
    let type = ContextType<Shared>("gstreamerkit.test", boxed: "GStreamerKitTestShared")
    let shared = type.find(for: element) { Shared() }
    #expect(type.find(for: element) { Shared() } === shared)
    let context = try nonNull(gst_element_get_context(element.gstElement, "gstreamerkit.test"))
    defer { gst_context_unref(context) }
    let text = try nonNull(gst_structure_to_string(gst_context_get_structure(context)))
    defer { g_free(text) }
    let address = String(UInt(bitPattern: Unmanaged.passUnretained(shared).toOpaque()), radix: 16)
    #expect(String(cString: text).contains("object=(GStreamerKitTestShared)0x\(address)"), "\(String(cString: text))")
  }

  /// Elements share it as long as one of them has the context.
  @Test func theObjectGoesWithTheLastContext() throws {
    weak var shared: Shared?
    var context: OpaquePointer?
    do {
      let element = TestElement()
      let type = ContextType<Shared>("gstreamerkit.last", boxed: "GStreamerKitTestLast")
      shared = type.find(for: element) { Shared() }
      _ = type.find(for: element) { Shared() }
      context = gst_element_get_context(element.gstElement, "gstreamerkit.last")
    }
    #expect(context != nil && shared != nil)
    if let context { gst_context_unref(context) }
    #expect(shared == nil)
  }
}
