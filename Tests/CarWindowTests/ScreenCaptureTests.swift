import SDLLink
import TestSupport
import Testing

@testable import CarWindow

@Suite struct ScreenCaptureTests {
  /// An existing display may become smaller after its size was read.
  @Test func aScreenThatHasBecomeSmaller() throws {
    let server = try VirtualServer(maximumSize: ScreenSize(320, 240), pixelsPerInch: 96)
    defer {
      server.process.end(within: .seconds(5))
      server.removeTraces()
    }
    try #require(
      eventually {
        if server.descriptor >= 0 { server.readNumber() }
        return server.display != nil
      })
    let display = try XDisplay(try #require(server.display), cookie: server.cookie)
    let capture = try ScreenCapture(display, showsPointer: false)
    display.size = ScreenSize(640, 480)
    #expect(try capture.take() != nil)
    #expect(display.size == ScreenSize(320, 240))
  }
}
