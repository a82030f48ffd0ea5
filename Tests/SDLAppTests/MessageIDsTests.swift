import Testing

@testable import SDLApp

@Suite struct MessageIDsTests {
  @Test func stayInTheirRange() {
    var video = MessageIDs.video
    #expect([video.next(), video.next()] == [0x4000_0000, 0x4000_0001])
    video = video.starting(at: 0x7FFF_FFFF)
    #expect([video.next(), video.next()] == [0x7FFF_FFFF, 0x4000_0000])
    var audio = MessageIDs.audio.starting(at: .max)
    #expect([audio.next(), audio.next()] == [0x3FFF_FFFF, 0x2000_0000])
    var others = MessageIDs.session.starting(at: .max)
    #expect([others.next(), others.next()] == [0x1FFF_FFFF, 1])
  }
}
