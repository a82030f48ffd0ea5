import GStreamerKit
import Glibc
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

import func TestSupport.residentBytes

@testable import Plugin

/// What is measured on the whole process, so that nothing else may run beside it: `make test` runs these alone.
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
        threads = Self.entries("/proc/self/task")
      }
      try suspender.suspend(harness)
      try harness.wait(forStreamState: suspender.streamState)
      harness.push(picture)
      try suspender.resume(harness)
      try harness.wait(forStreamState: "streaming")
      harness.push(picture)
      if cycle.isMultiple(of: 10) { try harness.headUnit.waitForFrames(1) }
      // Nothing is kept of it here either.
      harness.pipeline.forgetMessages()
      harness.headUnit.forget()
    }
    let growth = try residentBytes() - resident
    #expect(growth < 4 << 20, "\(growth) bytes in \(Self.cycles - Self.warmUp) cycles")
    #expect(eventually { Self.entries("/proc/self/task") <= threads })
    let statistics = try harness.statistics
    #expect(statistics["suspensions"] == Self.cycles && statistics.areFramesConserved)
    #expect(statistics["frames-sent"] >= Self.cycles / 10)
  }

  private static func entries(_ folder: String) -> Int {
    guard let directory = opendir(folder) else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }
}
