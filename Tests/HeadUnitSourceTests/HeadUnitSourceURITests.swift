import CGStreamerApp
import GStreamerKit
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `sdl+headunit://[ADDRESS][:PORT]`, as playbin and gst_element_make_from_uri() use it.
@Suite struct HeadUnitSourceURITests {
  private let element: Element
  private var handler: OpaquePointer { OpaquePointer(element.pointer) }

  init() throws {
    element = try Element("sdlheadunitsrc")
  }

  private func error(_ uri: String) -> Int32? {
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    guard gst_uri_handler_set_uri(handler, uri, &error) == 0 else { return nil }
    return error.flatMap { $0.pointee.domain == gst_uri_error_quark() ? $0.pointee.code : -1 }
  }

  private var uri: String? {
    gst_uri_handler_get_uri(handler).map { text in
      defer { g_free(text) }
      return String(cString: text)
    }
  }

  @Test func protocols() throws {
    #expect(gst_uri_handler_get_uri_type(handler) == GST_URI_SRC)
    let protocols = try nonNull(gst_uri_handler_get_protocols(handler))
    #expect(protocols[0].map { String(cString: $0) } == "sdl+headunit" && protocols[1] == nil)
  }

  @Test(arguments: [
    ("sdl+headunit://", "127.0.0.1", "12345"), ("sdl+headunit://192.0.2.7", "192.0.2.7", "12345"),
    ("sdl+headunit://:4000", "127.0.0.1", "4000"), ("SDL+HeadUnit://car.example:0/", "car.example", "0"),
    ("sdl+headunit://*:65535", "*", "65535"), ("sdl+headunit://[::1]:4000", "::1", "4000"),
    ("sdl+headunit://[::1]", "::1", "12345"),
  ])
  func setsTheProperties(uri: String, address: String, port: String) throws {
    element.set("address", "198.51.100.1")
    element.set("port", "1")
    #expect(error(uri) == nil)
    #expect(element["address"] == address && element["port"] == port)
    let text = try #require(self.uri)
    #expect(try HeadUnitSourceURI(text) == HeadUnitSourceURI(uri))
  }

  @Test func isThatOfTheProperties() {
    #expect(uri == "sdl+headunit://127.0.0.1:12345")
    element.set("address", "::1")
    element.set("port", "77")
    #expect(uri == "sdl+headunit://[::1]:77")
    element.set("address", "*")
    #expect(uri == "sdl+headunit://*:77")
  }

  @Test(arguments: [
    "sdl+headunit://car:70000", "sdl+headunit://car:", "sdl+headunit://car:x", "sdl+headunit://car/path",
    "sdl+headunit://me@car", "sdl+headunit://car?a=b", "sdl+headunit:car", "sdl://car", "sdl+headunit://::1",
  ])
  func badURI(uri: String) {
    // What has another scheme does not come so far.
    let code = uri.hasPrefix("sdl:") ? GST_URI_ERROR_UNSUPPORTED_PROTOCOL : GST_URI_ERROR_BAD_URI
    #expect(error(uri) == Int32(code.rawValue))
    #expect(element["address"] == "127.0.0.1" && element["port"] == "12345")
  }

  @Test(arguments: [GST_STATE_PAUSED, GST_STATE_PLAYING])
  func refusedWhileRunning(state: GstState) {
    element.set("port", "0")
    #expect(gst_element_set_state(element.pointer, state) != GST_STATE_CHANGE_FAILURE)
    #expect(error("sdl+headunit://:4000") == Int32(GST_URI_ERROR_BAD_STATE.rawValue))
    #expect(element["port"] == "0")
    gst_element_set_state(element.pointer, GST_STATE_READY)
    #expect(error("sdl+headunit://:4000") == nil)
    gst_element_set_state(element.pointer, GST_STATE_NULL)
  }

  @Test func factoryFindsItByScheme() throws {
    let found = try nonNull(gst_element_make_from_uri(GST_URI_SRC, "sdl+headunit://:4000", nil, nil))
    gst_object_ref_sink(found)
    #expect(Element(owning: found)["port"] == "4000")
    // The scheme of the sink is none of a source.
    #expect(gst_element_make_from_uri(GST_URI_SRC, "sdl://127.0.0.1", nil, nil) == nil)
  }

  /// What playbin does in `gst-play-1.0 sdl+headunit://`.
  @Test func decodebinShowsAnApp() throws {
    let units = try encodedUnits(12, width: 800, height: 480)
    let screen = try Pipeline("uridecodebin uri=sdl+headunit://:0 ! appsink name=out sync=false")
    try screen.play()
    let port = try #require(try screen["source"]["current-port"].flatMap { UInt16($0) })
    let app = try RawApp.streaming(
      port: port, VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264"))
    for unit in units { app.video(unit.bytes) }
    app.endVideo()
    let sink: UnsafeMutablePointer<GstAppSink> = try screen["out"].pointer.cast()
    let sample = try nonNull(gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)))
    let caps = gst_sample_get_caps(sample).map { text(of: $0) } ?? ""
    gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
    #expect(caps.hasPrefix("video/x-raw") && caps.contains("width=(int)800"), "\(caps)")
  }
}
