import Testing

@testable import SDLApp

@Suite struct VideoMessageIDsTests {
  @Test func beginAtTheUpperHalfAndStayThere() {
    var ids = VideoMessageIDs()
    #expect([ids.next(), ids.next()] == [0x8000_0000, 0x8000_0001])
    var last = VideoMessageIDs(following: .max)
    #expect([last.next(), last.next()] == [0xFFFF_FFFF, 0x8000_0000])
  }
}
