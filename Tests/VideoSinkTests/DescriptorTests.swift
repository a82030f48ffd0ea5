import GStreamerKit
import Glibc
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `sdl+fd:NUMBER`: connections that the application has made.
@Suite struct DescriptorTests {
  private func sink(_ descriptor: Int32) throws -> Pipeline {
    try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl+fd:\(descriptor)")
  }

  /// A stream socket that is connected to a head unit, as from any program that knows the way to it.
  private func connected(to uri: String) throws -> Int32 {
    guard case .tcp(_, let port) = try HeadUnitURI(uri) else { throw TestFailure("\(uri) is no TCP address") }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let result = withUnsafeBytes(of: &address) { bytes in
      connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard result == 0 else { throw TestFailure("not connected: \(errno)") }
    return descriptor
  }

  @Test func streams() throws {
    let headUnit = try HeadUnitPipeline("screen-size=320x240")
    let descriptor = try connected(to: headUnit.uri)
    let pipeline = try sink(descriptor)
    try pipeline.play()
    let samples = try headUnit.pull(10)
    #expect(try decode(samples.map(\.bytes), width: 320, height: 240).count == 10)
    pipeline.stop()
    // Taken over, so that it is closed with the connection.
    #expect(fcntl(descriptor, F_GETFD) < 0)
    #expect(try pipeline.sink.statistics.areFramesConserved)
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

  @Test func faults() throws {
    var pair: [Int32] = [0, 0]
    #expect(pipe(&pair) == 0)
    defer { for end in pair { close(end) } }
    for (descriptor, complaint) in [(9999, "is not open"), (pair[0], "is no socket")] as [(Int32, String)] {
      let pipeline = try sink(descriptor)
      #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
      let text = try pipeline.waitForError().text
      #expect(text.contains("descriptor \(descriptor) \(complaint)"), "\(text)")
    }
    #expect(fcntl(pair[0], F_GETFD) >= 0, "what is refused stays the application's")
  }
}
