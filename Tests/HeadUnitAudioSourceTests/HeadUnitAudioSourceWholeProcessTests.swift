import GStreamerKit
import Glibc
import Testing

import enum TestSupport.ProcessCounts
import func TestSupport.residentBytes

@testable import Plugin
@testable import PluginTestSupport

/// What is measured on the whole process: `make test` gives the suite one of its own.
@Suite(.serialized) struct HeadUnitAudioSourceWholeProcessTests {
  /// Both sources of a head unit, with an app that streams to both.
  @Test func stateChangesLeaveNothingBehind() throws {
    let pipeline = try Pipeline(
      """
      sdlheadunitsrc name=screen port=0 screen-size=320x240 ! fakesink sync=false async=false \
      sdlheadunitaudiosrc name=sound port=0 ! fakesink sync=false async=false
      """)
    let unit = try encodedUnits(1)[0]
    var (resident, threads, descriptors) = (0, 0, 0)
    for cycle in 0..<150 {
      if cycle == 50 {
        resident = try residentBytes()
        threads = ProcessCounts.threads
        descriptors = ProcessCounts.descriptors
      }
      try pipeline.play()
      let port = try #require(try pipeline["screen"]["current-port"].flatMap { UInt16($0) })
      let app = try RawApp.streaming(port: port)
      app.video(unit.bytes)
      #expect(try app.startAudio())
      app.audio(soundPieces(1)[0])
      pipeline.setState(GST_STATE_NULL)
      pipeline.forgetMessages()
    }
    let growth = try residentBytes() - resident
    #expect(growth < 4 << 20, "\(growth) bytes in 100 cycles")
    #expect(eventually { ProcessCounts.threads <= threads })
    #expect(eventually { ProcessCounts.descriptors <= descriptors })
    #expect(try pipeline["sound"].statistics.areSamplesBalanced)
  }

  /// Half an hour of sound as fast as it goes: nothing is kept of what was pushed.
  @Test func longStreams() throws {
    let screen = try Pipeline(
      "sdlheadunitaudiosrc name=src port=0 strict=false ! fakesink sync=false async=false")
    try screen.play()
    let source = try screen["src"]
    let port = try #require(source["current-port"].flatMap { UInt16($0) })
    let app = try RawApp.speaking(port: port)
    let piece = soundPieces(1)[0]
    var resident = 0
    for round in 0..<90 {
      if round == 20 { resident = try residentBytes() }
      for _ in 0..<1000 { app.audio(piece) }
      #expect(eventually { source.statistics["samples-out"] == (round + 1) * 320_000 })
    }
    #expect(try residentBytes() - resident < 4 << 20)
    #expect(source.statistics.areSamplesBalanced && source.statistics["gaps"] == 0)
  }
}
