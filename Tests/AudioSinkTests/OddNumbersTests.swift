import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Numbers that make no sense, which must not end the process.
@Suite struct OddNumbersTests {
  /// GObject's range lets it through.
  @Test func volume() {
    var settings = AudioSinkSettings()
    settings.volume = .nan
    #expect(settings.gain == 1)
    settings.isMuted = true
    #expect(settings.gain == 0)
  }

  @Test func timesBeyondGStreamers() {
    #expect((Duration.nanoseconds(Int64.max) + .milliseconds(100)).nanoseconds == .max)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect(Duration.nanoseconds(Int64.max).nanoseconds == Int.max)
  }
}
