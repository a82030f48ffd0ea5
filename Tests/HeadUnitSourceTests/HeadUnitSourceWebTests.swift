import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The property `web` of a head unit; its page in a browser is tested in `Tests/Pipelines`.
@Suite struct HeadUnitSourceWebTests {
  /// The port of `current-web-uri`; nil while there is none.
  private static func webPort(of source: Element) -> UInt16? {
    source["current-web-uri"].flatMap { $0.firstMatch(of: /:([0-9]+)\//) }.flatMap { UInt16($0.1) }
  }

  private static func isFree(_ port: UInt16) -> Bool {
    (try? Socket.listening(address: "127.0.0.1", port: port)) != nil
  }

  /// It ends with the head unit, and begins anew with the next one.
  @Test func beginningAndEnd() throws {
    let headUnit = try HeadUnitPipeline("web=127.0.0.1:0 web-token=secret")
    let port = try #require(Self.webPort(of: headUnit.source))
    #expect(headUnit.source["current-web-uri"] == "http://127.0.0.1:\(port)/#secret")
    let isTold = try headUnit.pipeline.wait(for: "the address of the page") {
      $0.info?.text.contains("http://127.0.0.1:\(port)/#secret") == true ? true : nil
    }
    #expect(isTold && !Self.isFree(port))
    headUnit.pipeline.stop()
    #expect(headUnit.source["current-web-uri"] == nil && Self.isFree(port))
    headUnit.source.set("web", "\(port)")
    try headUnit.pipeline.play()
    #expect(headUnit.source["current-web-uri"] == "http://127.0.0.1:\(port)/#secret")
    headUnit.pipeline.stop()
    #expect(Self.isFree(port))
  }

  /// Without a token of its own, each start has another one; without `web` there is no page.
  @Test func tokens() throws {
    let headUnit = try HeadUnitPipeline("web=localhost:0")
    #expect(headUnit.source["current-web-uri"]?.hasPrefix("http://localhost:") == true)
    let first = try #require(headUnit.source["current-web-uri"]?.split(separator: "#").last)
    headUnit.pipeline.stop()
    try headUnit.pipeline.play()
    let second = try #require(headUnit.source["current-web-uri"]?.split(separator: "#").last)
    #expect(first.count == 32 && second.count == 32 && first != second)
    headUnit.pipeline.stop()
    headUnit.source.set("web", "")
    try headUnit.pipeline.play()
    #expect(headUnit.source["current-web-uri"] == nil)
    headUnit.pipeline.stop()
  }

  /// The head unit does not listen without the page that was asked for.
  @Test func portThatIsTaken() throws {
    let (other, address) = try Socket.listening(address: "127.0.0.1", port: 0)
    defer { withExtendedLifetime(other) {} }
    let port = try RawPeer.unusedPort()
    let pipeline = try Pipeline("sdlheadunitsrc name=src port=\(port) web=\(address.port) ! fakesink")
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ))
    #expect(error.text.contains("127.0.0.1:\(address.port)") && error.text.contains("web=0"), "\(error.text)")
    #expect(try pipeline["src"]["current-port"] == "0" && Self.isFree(port))
  }

  /// And the page is not served without the head unit.
  @Test func portOfTheHeadUnitThatIsTaken() throws {
    let (other, address) = try Socket.listening(address: "127.0.0.1", port: 0)
    defer { withExtendedLifetime(other) {} }
    let port = try RawPeer.unusedPort()
    let pipeline = try Pipeline("sdlheadunitsrc name=src port=\(address.port) web=\(port) ! fakesink")
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    #expect(try pipeline.waitForError().text.contains("port=0") && Self.isFree(port))
  }

  @Test(arguments: [
    ("web=nonsense", GST_RESOURCE_ERROR_SETTINGS, "'nonsense' is no port"),
    ("web=0 web-token=schlüssel", GST_RESOURCE_ERROR_SETTINGS, "the token can't be used"),
    ("web=192.0.2.1:0", GST_RESOURCE_ERROR_OPEN_READ, "this machine has no address 192.0.2.1"),
    ("web=does-not-exist.invalid:0", GST_RESOURCE_ERROR_NOT_FOUND, "no host does-not-exist.invalid"),
  ])
  func invalid(_ properties: String, _ code: GstResourceError, _ text: String) throws {
    let pipeline = try Pipeline("sdlheadunitsrc port=0 \(properties) ! fakesink")
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(code) && error.text.contains(text), "\(error.text)")
  }

  /// The element that has set it serves the page of both, and only one announces it.
  @Test func sharedHeadUnit() throws {
    let pipeline = try Pipeline(
      """
      sdlheadunitsrc name=screen port=0 ! fakesink async=false \
      sdlheadunitaudiosrc name=sound port=0 web=0 ! fakesink async=false
      """)
    try pipeline.play()
    let uri = try #require(try pipeline["sound"]["current-web-uri"])
    #expect(try pipeline["screen"]["current-web-uri"] == uri)
    let port = try #require(Self.webPort(of: try pipeline["sound"]))
    #expect(pipeline.drain().count { $0.info?.text.contains(uri) == true } == 1)
    pipeline.stop()
    #expect(Self.isFree(port))
  }
}
