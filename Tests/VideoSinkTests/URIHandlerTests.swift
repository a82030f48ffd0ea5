import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct URIHandlerTests {
  private let element: Element
  private var handler: OpaquePointer { OpaquePointer(element.pointer) }

  init() throws {
    element = try Element("sdlvideosink")
  }

  @Test func protocols() throws {
    #expect(gst_uri_handler_get_uri_type(handler) == GST_URI_SINK)
    let protocols = try #require(gst_uri_handler_get_protocols(handler))
    var names: [String] = []
    while let name = protocols[names.count] { names.append(String(cString: name)) }
    #expect(names == ["sdl", "sdl+bluetooth", "sdl+builtin", "sdl+fd"])
  }

  @Test func setAndGet() throws {
    #expect(gst_uri_handler_get_uri(handler) == nil)
    #expect(gst_uri_handler_set_uri(handler, "sdl://192.0.2.7:4000", nil) != 0)
    let uri = try #require(gst_uri_handler_get_uri(handler))
    defer { g_free(uri) }
    #expect(String(cString: uri) == "sdl://192.0.2.7:4000")
    #expect(element["uri"] == "sdl://192.0.2.7:4000")
  }

  @Test(arguments: [("sdl://car:0", GST_URI_ERROR_BAD_URI), ("sdl+builtin:nowhere", GST_URI_ERROR_BAD_URI)])
  func badURI(_ uri: String, _ code: GstURIError) throws {
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    #expect(gst_uri_handler_set_uri(handler, uri, &error) == 0)
    let domain = try #require(error?.pointee.domain)
    #expect(domain == gst_uri_error_quark() && error?.pointee.code == Int32(code.rawValue))
    #expect(element["uri"] == nil)
  }

  @Test func refusedWhileRunning() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink")
    try pipeline.reach(GST_STATE_PAUSED)
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    let sink = try pipeline.sink
    #expect(gst_uri_handler_set_uri(OpaquePointer(sink.pointer), "sdl://192.0.2.7", &error) == 0)
    #expect(error?.pointee.code == Int32(GST_URI_ERROR_BAD_STATE.rawValue))
  }

  /// The sink is in READY until its first frame has come, but the app of that state is in use.
  @Test func refusedOnTheWayToPlaying() throws {
    let pipeline = try Pipeline("appsrc ! sdlvideosink name=sink")
    let sink = try pipeline.sink
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_ASYNC)
    #expect(cgst_element_state(sink.pointer) == GST_STATE_READY)
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    #expect(gst_uri_handler_set_uri(OpaquePointer(sink.pointer), "sdl://192.0.2.7", &error) == 0)
    #expect(error?.pointee.code == Int32(GST_URI_ERROR_BAD_STATE.rawValue))
    #expect(sink["uri"] == nil)
    pipeline.stop()
    #expect(gst_uri_handler_set_uri(OpaquePointer(sink.pointer), "sdl://192.0.2.7", nil) != 0)
  }

  /// After an error on the way up another one may be tried.
  @Test func acceptedAfterAFailure() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink app-name=\"\"")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    #expect(gst_uri_handler_set_uri(OpaquePointer(try pipeline.sink.pointer), "sdl://192.0.2.7", nil) != 0)
  }

  @Test func factoryFindsItByScheme() throws {
    for uri in ["sdl://192.0.2.7", "sdl+builtin:core"] {
      let found = try #require(gst_element_make_from_uri(GST_URI_SINK, uri, nil, nil), "\(uri)")
      gst_object_ref_sink(found)
      let element = Element(owning: found)
      #expect(element["uri"] == uri)
    }
  }
}
