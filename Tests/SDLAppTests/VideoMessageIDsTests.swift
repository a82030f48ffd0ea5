import Testing

@testable import SDLApp

@Suite struct VideoMessageIDsTests {
  @Test func stayInTheirRange() {
    var ids = VideoMessageIDs()
    #expect([ids.next(), ids.next()] == [0x4000_0000, 0x4000_0001])
    var last = VideoMessageIDs(following: 0x7FFF_FFFF)
    #expect([last.next(), last.next()] == [0x7FFF_FFFF, 0x4000_0000])
  }
}
