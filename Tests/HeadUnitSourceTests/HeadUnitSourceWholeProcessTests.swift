import GStreamerKit
import Glibc
import SDLLink
import Testing

import enum TestSupport.ProcessCounts
import func TestSupport.residentBytes

@testable import Plugin
@testable import PluginTestSupport

/// What is measured on the whole process: `make test` gives the suite one of its own.
@Suite(.serialized) struct HeadUnitSourceWholeProcessTests {
  @Test func stateChangesLeaveNothingBehind() throws {
    let screen = try Pipeline("sdlheadunitsrc name=src port=0 screen-size=320x240 ! fakesink sync=false")
    let unit = try encodedUnits(1)[0]
    var (resident, threads, descriptors) = (0, 0, 0)
    for cycle in 0..<200 {
      if cycle == 50 {
        resident = try residentBytes()
        threads = ProcessCounts.threads
        descriptors = ProcessCounts.descriptors
      }
      try screen.play()
      let port = try #require(try screen["src"]["current-port"].flatMap { UInt16($0) })
      let app = try RawApp.streaming(port: port)
      app.video(unit.bytes)
      screen.setState(GST_STATE_NULL)
      screen.forgetMessages()
    }
    let growth = try residentBytes() - resident
    #expect(growth < 4 << 20, "\(growth) bytes in 150 cycles")
    #expect(eventually { ProcessCounts.threads <= threads })
    #expect(eventually { ProcessCounts.descriptors <= descriptors })
    #expect(try screen["src"].statistics.areFramesBalanced)
  }

  /// Buffers that outlive the pipeline keep their bytes; the element itself goes.
  @Test func buffersOutliveTheElement() throws {
    let isGone = Monitor(false)
    let unit = try encodedUnits(1)[0]
    var sample: HeadUnitPipeline.Sample?
    do {
      let screen = try HeadUnitPipeline("screen-size=320x240")
      g_object_weak_ref(
        screen.source.object,
        { data, _ in
          if let data { Unmanaged<Monitor<Bool>>.fromOpaque(data).takeUnretainedValue().withLock { $0 = true } }
        }, Unmanaged.passUnretained(isGone).toOpaque())
      let app = try RawApp.streaming(port: screen.port)
      app.video(unit.bytes)
      sample = screen.pull()
      screen.pipeline.stop()
    }
    #expect(eventually { isGone.withLock { $0 } })
    #expect(sample?.bytes == unit.bytes)
  }

  /// Three thousand frames: nothing is kept of what was pushed.
  @Test func longStreams() throws {
    let screen = try Pipeline(
      "sdlheadunitsrc name=src port=0 screen-size=320x240 framerate=0 max-bitrate=0 ! fakesink sync=false")
    let units = try encodedUnits(60)
    try screen.play()
    let source = try screen["src"]
    let app = try RawApp.streaming(port: try #require(source["current-port"].flatMap { UInt16($0) }))
    var resident = 0
    for round in 0..<50 {
      if round == 10 { resident = try residentBytes() }
      for unit in units { app.video(unit.bytes) }
      #expect(eventually { source.statistics["frames-in"] >= (round + 1) * 60 - 1 })
    }
    let growth = try residentBytes() - resident
    #expect(growth < 4 << 20, "\(growth) bytes in \(40 * units.count) frames")
    #expect(source.statistics.areFramesBalanced)
  }
}
