import GStreamerKit
import Glibc
import SDLHeadUnit
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `sdl+fd:NUMBER`: connections that the application has made.
@Suite struct DescriptorTests {
  private func sink(_ descriptor: Int32, _ more: String = "") throws -> Pipeline {
    try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl+fd:\(descriptor)\(more)")
  }

  /// A stream socket that is connected to a head unit, as from any program that knows the way to it.
  ///
  /// - Parameter number: what the descriptor is to be. Far above the lowest free number, which is what the process gets
  /// for
  ///   everything else, so that it stays free once it is closed.
  private func connected(to uri: String, as number: Int32? = nil) throws -> Int32 {
    guard GStreamer.isReady, case .tcp(_, let port) = try HeadUnitURI(uri) else {
      throw TestFailure("\(uri) is no TCP address")
    }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let result = withUnsafeBytes(of: &address) { bytes in
      connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard result == 0 else { throw TestFailure("not connected: \(errno)") }
    guard let number else { return descriptor }
    defer { close(descriptor) }
    guard dup2(descriptor, number) == number else { throw TestFailure("no descriptor \(number): \(errno)") }
    return number
  }

  @Test func streams() throws {
    let headUnit = try HeadUnitPipeline("screen-size=320x240")
    let descriptor = try connected(to: headUnit.uri, as: 901)
    let pipeline = try sink(descriptor)
    try pipeline.play()
    let samples = try headUnit.pull(10)
    #expect(try decode(samples.map(\.bytes), width: 320, height: 240).count == 10)
    pipeline.stop()
    // Taken over, so that it is closed with the connection.
    #expect(fcntl(descriptor, F_GETFD) < 0)
    #expect(try pipeline.sink.statistics.areFramesConserved)
  }

  /// Its other end may be anywhere, so that it gets nothing of this machine, unless the user says that it is there.
  @Test func policiesOfThisMachine() throws {
    let server = try RawPeer { connection in
      _ = connection.receive()
      connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npolicy".utf8))
    }
    let headUnit = try TestHeadUnit()
    let remote = try sink(connected(to: headUnit.uri), " policy-updates=fetch")
    try remote.play()
    try headUnit.waitForFrames(2)
    for (url, reason) in [
      ("http://127.0.0.1:\(server.port)/", "it is no https URL"),
      ("https://localhost:\(server.port)/", "in a network around it"),
    ] {
      headUnit.server.perform(try #require(try HeadUnitCommand.parse("policy-update \(url)")))
      try remote.wait(for: reason) { $0.warning?.text.contains(reason) == true ? true : nil }
    }
    remote.stop()
    let local = try sink(connected(to: headUnit.uri), "?local=true policy-updates=fetch")
    let count = headUnit.record.video.count
    try local.play()
    try headUnit.waitForFrames(count + 2)
    headUnit.server.perform(
      try #require(try HeadUnitCommand.parse("policy-update http://127.0.0.1:\(server.port)/policy")))
    try headUnit.wait(for: "policy") { record in
      record.events.contains(.systemRequestAnswered("PROPRIETARY", byteCount: 6)) ? true : nil
    }
  }

  /// It can't be made again, so that its loss is an error, also with auto-reconnect.
  @Test func lossIsAnError() throws {
    let headUnit = try HeadUnitPipeline("screen-size=320x240")
    let pipeline = try sink(connected(to: headUnit.uri))
    try pipeline.play()
    _ = try headUnit.pull(3)
    headUnit.pipeline.stop()
    let text = try pipeline.waitForError().text
    #expect(text.lowercased().contains("descriptor"), "\(text)")
  }

  /// The first start has closed the descriptor, whose number may be something else's by now.
  @Test func secondStart() throws {
    let headUnit = try HeadUnitPipeline("screen-size=320x240")
    let descriptor = try connected(to: headUnit.uri, as: 902)
    let pipeline = try sink(descriptor)
    try pipeline.play()
    _ = try headUnit.pull(3)
    pipeline.stop()
    // The same number, for something of the application's that is none of the sink's business.
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    #expect(dup2(pair[0], descriptor) == descriptor)
    defer { for descriptor in pair + [descriptor] { close(descriptor) } }
    #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
    let text = try pipeline.waitForError().text
    #expect(text.contains("descriptor \(descriptor) was closed by an earlier start"), "\(text)")
    #expect(fcntl(descriptor, F_GETFD) >= 0, "what is refused stays the application's")
  }

  /// Setting the property says that the number is a new connection's.
  @Test func sameNumberAgain() throws {
    let headUnit = try HeadUnitPipeline("screen-size=320x240")
    let descriptor = try connected(to: headUnit.uri, as: 903)
    let pipeline = try sink(descriptor)
    try pipeline.play()
    _ = try headUnit.pull(3)
    pipeline.stop()
    _ = try connected(to: headUnit.uri, as: descriptor)
    try pipeline.sink.set("uri", "sdl+fd:\(descriptor)")
    try pipeline.play()
    _ = try headUnit.pull(until: { $0.isDiscontinuous || !$0.isDelta })
    try pipeline.waitForElementMessage("sdl-stream-started")
    pipeline.stop()
  }

  /// What is no connected stream is refused, and stays the application's.
  @Test func faults() throws {
    var pipe: [Int32] = [0, 0]
    #expect(Glibc.pipe(&pipe) == 0)
    let file = open("/dev/null", O_RDWR)
    let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #expect(listen(listening, 1) == 0)
    let unconnected = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let open = pipe + [file, datagrams, listening, unconnected]
    defer { for descriptor in open { close(descriptor) } }
    let faults: [(Int32, String)] = [
      (9999, "is not open"), (pipe[0], "is no socket"), (file, "is no socket"),
      (datagrams, "is a datagram or packet socket"),
      (listening, "is a listening socket"), (unconnected, "is not connected"),
    ]
    for (descriptor, complaint) in faults {
      let pipeline = try sink(descriptor)
      #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
      let text = try pipeline.waitForError().text
      #expect(text.contains("descriptor \(descriptor)") && text.contains(complaint), "\(text)")
      // A refused value may be tried again: it was not used.
      #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
      #expect(pipeline.drain().last { $0.error != nil }?.error?.text.contains(complaint) == true)
    }
    for descriptor in open { #expect(fcntl(descriptor, F_GETFD) >= 0, "what is refused stays the application's") }
  }
}
