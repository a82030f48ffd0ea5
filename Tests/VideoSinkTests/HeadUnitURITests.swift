import Bluetooth
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct HeadUnitURITests {
  @Test(arguments: [
    ("sdl://192.0.2.7:12345", HeadUnitURI.tcp(host: "192.0.2.7", port: 12345)),
    ("sdl://192.0.2.7", .tcp(host: "192.0.2.7", port: 12345)),
    ("sdl://192.0.2.7/", .tcp(host: "192.0.2.7", port: 12345)),
    ("sdl://car.local:1", .tcp(host: "car.local", port: 1)),
    ("sdl://car.local:65535", .tcp(host: "car.local", port: 65535)),
    ("SDL://car.local", .tcp(host: "car.local", port: 12345)),
    ("sdl://[::1]:4000", .tcp(host: "::1", port: 4000)),
    ("sdl://[2001:db8::7]", .tcp(host: "2001:db8::7", port: 12345)),
    ("sdl+builtin:", .builtIn(.standard)),
    ("sdl+builtin:default", .builtIn(.standard)),
    ("sdl+builtin:core", .builtIn(.core)),
    ("sdl+fd:7", .descriptor(7)),
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
    ("sdl://car:0/", "port"), ("sdl://car:00", "port"), ("sdl://car:", "port"), ("sdl://[::1]:99999", "port"),
    ("sdl+fd:", "write sdl+fd:NUMBER"), ("sdl+fd:-1", "write sdl+fd:NUMBER"), ("sdl+fd:99999999999", "sdl+fd:NUMBER"),
    ("sdl+bluetooth:AA:BB", "AA:BB:CC:DD:EE:FF"), ("sdl+bluetooth:any", "sdl+bluetooth:"),
    ("sdl+bluetooth://AA:BB:CC:DD:EE:FF", "not a URI"),
    ("sdl+builtin:unknown", "default, core, core-listed, generic-hmi, legacy, bluetooth-and-wifi, hostile"),
  ])
  func bad(_ text: String, _ complaint: String) {
    #expect(GStreamer.isReady)
    let error = #expect(throws: HeadUnitURI.Malformed.self) { try HeadUnitURI(text) }
    #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
  }
}
