import Bluetooth
import GStreamerKit
import SDLHeadUnit
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
    let protocols = try nonNull(gst_uri_handler_get_protocols(handler))
    var names: [String] = []
    while let name = protocols[names.count] { names.append(String(cString: name)) }
    #expect(
      names == [
        "sdl", "sdl+bluetooth", "sdl+builtin", "sdl+fd", "sdl+ws", "sdl+ws-listen", "sdl+wss", "sdl+wss-listen",
      ])
  }

  @Test func setAndGet() throws {
    #expect(gst_uri_handler_get_uri(handler) == nil)
    let reader = GetterCaller(element.pointer)
    reader.watch("uri")
    #expect(gst_uri_handler_set_uri(handler, "sdl://192.0.2.7:4000", nil) != 0)
    #expect(reader.calls.withLock { $0 } == 1)
    let uri = try nonNull(gst_uri_handler_get_uri(handler))
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
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink app-name=\(String(repeating: "x", count: 101))")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    #expect(gst_uri_handler_set_uri(OpaquePointer(try pipeline.sink.pointer), "sdl://192.0.2.7", nil) != 0)
  }

  @Test func factoryFindsItByScheme() throws {
    for uri in ["sdl://192.0.2.7", "sdl+builtin:core"] {
      let found = try nonNull(gst_element_make_from_uri(GST_URI_SINK, uri, nil, nil), "\(uri)")
      gst_object_ref_sink(found)
      let element = Element(owning: found)
      #expect(element["uri"] == uri)
    }
  }
}

@Suite struct HeadUnitURITests {
  @Test(arguments: [
    ("sdl://192.0.2.7:12345", HeadUnitURI.tcp(host: "192.0.2.7", port: 12345)),
    ("sdl://192.0.2.7", .tcp(host: "192.0.2.7", port: 12345)),
    ("sdl://192.0.2.7/", .tcp(host: "192.0.2.7", port: 12345)),
    ("sdl://car.local:1", .tcp(host: "car.local", port: 1)),
    ("sdl://car.local:65535", .tcp(host: "car.local", port: 65535)),
    ("SDL://car.local", .tcp(host: "car.local", port: 12345)),
    ("sdl://[::1]:4000", .tcp(host: "::1", port: 4000)),
    ("sdl://[fe80::1%25eth0]:4000", .tcp(host: "fe80::1%eth0", port: 4000)),
    ("sdl://[2001:db8::7]", .tcp(host: "2001:db8::7", port: 12345)),
    ("sdl+builtin:", .builtIn(.standard)),
    ("sdl+builtin:default", .builtIn(.standard)),
    ("sdl+builtin:core", .builtIn(.core)),
    ("sdl+fd:7", .descriptor(7, isLocal: false)), ("sdl+fd:7?local=false", .descriptor(7, isLocal: false)),
    ("sdl+fd:7?local=true", .descriptor(7, isLocal: true)),
    ("sdl+ws://car.local", .webSocket(host: "car.local", port: 2020, target: "", isSecure: false)),
    ("SDL+WSS://[::1]:443/a?b#c", .webSocket(host: "::1", port: 443, target: "/a?b", isSecure: true)),
    ("sdl+ws-listen://:2021", .webSocketListener(address: nil, port: 2021, isSecure: false)),
    ("sdl+wss-listen://[::1]:1/", .webSocketListener(address: "::1", port: 1, isSecure: true)),
    ("sdl+bluetooth:", .bluetooth(nil)),
    ("sdl+bluetooth:AA:BB:CC:DD:EE:FF", .bluetooth(BluetoothAddress("AA:BB:CC:DD:EE:FF"))),
    ("SDL+Bluetooth:aa:bb:cc:dd:ee:ff", .bluetooth(BluetoothAddress("AA:BB:CC:DD:EE:FF"))),
    ("sdl+builtin:generic-hmi", .builtIn(.genericHMI)),
    ("sdl+builtin:hostile", .builtIn(.hostile)),
    ("sdl+builtin:legacy", .builtIn(.legacy)),
  ])
  func good(_ text: String, _ expected: HeadUnitURI) throws {
    #expect(try GStreamer.isReady && HeadUnitURI(text) == expected)
  }

  /// The text, and a part of the complaint.
  @Test(arguments: [
    ("", "not a URI"), ("nonsense", "not a URI"), ("192.0.2.7:12345", "not a URI"),
    ("http://192.0.2.7", "scheme http"), ("rtmp://192.0.2.7", "scheme rtmp"),
    ("sdl://", "no host"), ("sdl:192.0.2.7", "no host"), ("sdl://:12345", "no host"),
    ("sdl://car/path", "path"), ("sdl://car:0", "port"), ("sdl://car:65536", "port"), ("sdl://car:99999", "port"),
    ("sdl://::1", "write sdl://[::1] or sdl://[::1]:PORT"), ("SDL://2001:db8::7:5/", "write sdl://[2001:db8::7:5]"),
    ("sdl://[fe80::1%eth0]:12345", "write sdl://[ADDRESS%25INTERFACE]:PORT"),
    ("sdl://[fe80::1%ab0]", "such as sdl://[fe80::1%25eth0]:12345"),
    ("sdl://car:0/", "port"), ("sdl://car:00", "port"), ("sdl://car:", "port"), ("sdl://[::1]:99999", "port"),
    ("sdl+fd:", "write sdl+fd:NUMBER"), ("sdl+fd:-1", "write sdl+fd:NUMBER"), ("sdl+fd:99999999999", "sdl+fd:NUMBER"),
    ("sdl+fd:7?local=yes", "sdl+fd:7?local=true"), ("sdl+fd:7?remote=true", "sdl+fd:7?local=true"),
    ("sdl+ws://::1", "sdl+ws://[::1]"), ("sdl+wss://car:0", "1…65535"), ("sdl+ws:", "sdl+ws://HOST"),
    ("sdl+ws-listen://", "sdl+ws-listen://:PORT"), ("sdl+ws-listen:2021", "sdl+ws-listen://:PORT"),
    ("sdl+ws-listen://:0", "sdl+ws-listen://:PORT"), ("sdl+ws-listen://:1/path", "sdl+ws-listen://:PORT"),
    ("sdl+wss-listen:2021", "sdl+wss-listen://ADDRESS:PORT"), ("sdl+bluetooth:AA:BB", "AA:BB:CC:DD:EE:FF"),
    ("sdl+bluetooth:any", "sdl+bluetooth:"),
    ("sdl+bluetooth://AA:BB:CC:DD:EE:FF", "not a URI"),
    ("sdl+builtin:unknown", "default, core, core-listed, generic-hmi, legacy, bluetooth-and-wifi, hostile"),
  ])
  func bad(_ text: String, _ complaint: String) {
    #expect(GStreamer.isReady)
    let error = #expect(throws: HeadUnitURI.Malformed.self) { try HeadUnitURI(text) }
    #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
  }
}
