import GStreamerKit
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Head units that can't be reached, and peers that are not head units.
@Suite struct UnreachableHeadUnitTests {
  /// Refused connections are tried again for a while, since the head unit may just be starting.
  private static let shortly = "connect-timeout=1000"

  /// Plays to `uri` until the sink's error; the pipeline stops in time.
  private func failure(_ uri: String, _ properties: String = "", isLive: Bool = true) throws -> BusMessage.Fault {
    let pipeline = try Pipeline(
      "videotestsrc is-live=\(isLive) ! sdlvideosink name=sink uri=\(uri) \(properties)")
    pipeline.setState(GST_STATE_PLAYING)
    let error = try pipeline.waitForError()
    pipeline.stop()
    #expect(pipeline.messages.first { $0.error != nil }?.source == "sink")
    return error
  }

  @Test func unknownHost() throws {
    let error = try failure("sdl://does-not-exist.invalid")
    #expect(error.isResource(GST_RESOURCE_ERROR_NOT_FOUND))
    #expect(error.text.contains("does-not-exist.invalid") && error.text.contains("uri"), "\(error)")
  }

  @Test(arguments: [true, false])
  func refusedPort(isLive: Bool) throws {
    let refusing = try RefusingPort()
    let port = refusing.port
    let error = try failure("sdl://127.0.0.1:\(port)", Self.shortly, isLive: isLive)
    withExtendedLifetime(refusing) {}
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ_WRITE))
    #expect(error.text.contains("127.0.0.1:\(port)") && error.text.contains("refused"), "\(error)")
  }

  @Test func refusedPortOfIPv6() throws {
    let error = try failure("sdl://[::1]:\(try RawPeer.unusedPort())", Self.shortly)
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ_WRITE))
    #expect(error.text.contains("[::1]"), "\(error)")
  }

  @Test func silentPeer() throws {
    let peer = try RawPeer { $0.readToEnd() }
    let error = try failure(peer.uri, "connect-timeout=200")
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ_WRITE))
    #expect(error.text.contains("connect-timeout"), "\(error)")
  }

  @Test func webServer() throws {
    let peer = try RawPeer { connection in
      _ = connection.receive()
      connection.send(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
      connection.readToEnd()
    }
    let error = try failure(peer.uri)
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ_WRITE))
    #expect(error.text.contains("answers with HTTP") && error.text.contains("HTTP/1.1"), "\(error)")
  }

  @Test func garbage() throws {
    let peer = try RawPeer { connection in
      var random = SeededGenerator(seed: 1)
      // None of it can be a frame, whose first byte has a version from 1 to 5.
      connection.send(random.bytes(100_000, in: 0x60...0xFF))
      connection.readToEnd()
    }
    let error = try failure(peer.uri)
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ_WRITE))
  }

  @Test func randomBytesNeverHang() throws {
    for seed in 1...10 as ClosedRange<UInt64> {
      let peer = try RawPeer { connection in
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 where !connection.send(random.bytes(1000)) { return }
      }
      let error = try failure(peer.uri, "connect-timeout=500")
      #expect(error.domain == gst_resource_error_quark(), "\(error)")
    }
  }

  @Test func peerThatClosesAtOnce() throws {
    let peer = try RawPeer { _ in }
    let error = try failure(peer.uri, "auto-reconnect=false")
    #expect(error.domain == gst_resource_error_quark(), "\(error)")
  }

  @Test func malformedURI() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink uri=nonsense")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS) && error.text.contains("sdl://HOST:PORT"), "\(error)")
  }

  /// The connection is cut after one frame, then after two, and so on, until a start-up succeeds.
  @Test func peerThatClosesBetweenAnyTwoFrames() throws {
    let headUnit = try TestHeadUnit()
    let port = headUnit.port
    var hasStreamed = false
    for limit in 0..<60 where !hasStreamed {
      let peer = try RawPeer { relay($0, to: port, cutAfter: limit) }
      let pipeline = try Pipeline(
        "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink auto-reconnect=false uri=\(peer.uri)")
      pipeline.setState(GST_STATE_PLAYING)
      let error = try pipeline.waitForError()
      pipeline.drain()
      #expect(pipeline.messages.first { $0.error != nil }?.source == "sink")
      hasStreamed = pipeline.messages.contains { $0.isElement("sdl-stream-started") }
      let code = hasStreamed ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_OPEN_READ_WRITE
      #expect(error.isResource(code), "after \(limit) frames: \(error)")
      #expect(try pipeline.sink["connection-state"] != "streaming")
      #expect(try pipeline.sink.statistics.areFramesConserved)
      pipeline.stop()
    }
    #expect(hasStreamed)
  }
}
