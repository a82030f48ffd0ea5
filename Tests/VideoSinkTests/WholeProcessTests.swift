import GStreamerKit
import Glibc
import SDLApp
import SDLHeadUnit
import Testing

import enum TestSupport.ProcessCounts
import func TestSupport.residentBytes

@testable import Plugin
@testable import PluginTestSupport

/// What is measured on the whole process: `make test` gives the suite one of its own.
@Suite(.serialized) struct PluginWholeProcessTests {
  private static let cycles = 1000
  private static let warmUp = 150

  @Test(arguments: SuspendPolicyTests.Suspender.allCases)
  func suspensionsLeaveNothingBehind(suspender: SuspendPolicyTests.Suspender) throws {
    let harness = try SinkHarness(properties: "sync=false background-notice=false")
    try harness.start()
    let picture = Picture(320, 240, 0).bytes
    var resident = 0
    var threads = 0
    for cycle in 0..<Self.cycles {
      if cycle == Self.warmUp {
        resident = try residentBytes()
        threads = ProcessCounts.threads
      }
      try suspender.suspend(harness)
      try harness.wait(forStreamState: suspender.streamState)
      harness.push(picture)
      try suspender.resume(harness)
      try harness.wait(forStreamState: "streaming")
      harness.push(picture)
      if cycle.isMultiple(of: 10) { try harness.headUnit.waitForFrames(1) }
      // The test's own records would count as growth.
      harness.pipeline.forgetMessages()
      harness.headUnit.forget()
    }
    let growth = try residentBytes() - resident
    #expect(growth < 4 << 20, "\(growth) bytes in \(Self.cycles - Self.warmUp) cycles")
    #expect(eventually { ProcessCounts.threads <= threads })
    let statistics = try harness.statistics
    #expect(statistics["suspensions"] == Self.cycles && statistics.areFramesConserved)
    #expect(statistics["frames-sent"] >= Self.cycles / 10)
  }
}
