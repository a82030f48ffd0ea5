import CarWindow
import GStreamerKit
import Glibc
import SDLHeadUnit
import SDLLink
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// More than the threads here give to one poll(2), which would fail otherwise.
private let limit: Int32 = 16

/// A process that may have no more descriptors: that ends in an error that says so, or goes on once there are some.
@Suite(.serialized) final class DescriptorLimitWholeProcessTests {
  /// Takes all numbers below the limit, so that what a test opens and closes is above it.
  private let fillers = Array(sequence(first: dup(STDERR_FILENO)) { $0 < limit ? dup(STDERR_FILENO) : nil })

  deinit {
    for descriptor in fillers { close(descriptor) }
  }

  /// Runs `body` while the process can open nothing. What is open stays.
  private func withoutDescriptors<R>(_ body: () throws -> R) throws -> R {
    var limits = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
    var none = rlimit(rlim_cur: rlim_t(limit), rlim_max: limits.rlim_max)
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
    defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) }
    return try body()
  }

  @Test func start() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    let sink = try pipeline.sink
    let result = try withoutDescriptors { gst_element_set_state(sink.pointer, GST_STATE_READY) }
    #expect(result == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError().text
    #expect(error.contains("Too many open files") && error.contains("ulimit -n"), "\(error)")
    gst_element_set_state(sink.pointer, GST_STATE_NULL)
    try pipeline.play()
    try headUnit.waitForFrames(2)
    pipeline.stop()
  }

  @Test func reconnection() throws {
    let headUnit = try TestHeadUnit(.small().with { $0.refusesTakenNames = false })
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(2)
    let text = try withoutDescriptors {
      headUnit.server.perform(.cut)
      return try pipeline.wait(for: "failed attempt") { message -> String? in
        if case .progress(GST_PROGRESS_TYPE_ERROR, _, let text) = message.kind { text } else { nil }
      }
    }
    #expect(text.contains("ulimit -n") && !text.contains("network"), "\(text)")
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 2)
    pipeline.stop()
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// What has not started is not waited for.
  @Test func carWindow() throws {
    let window = CarWindow(CarWindow.Configuration()) { _ in }
    try withoutDescriptors {
      let error = #expect(throws: CarWindowError.self) { try window.start() }
      #expect(error.map { "\($0)".contains("ulimit -n") } == true)
    }
    let began = MonotonicClock.now
    window.stop()
    #expect(MonotonicClock.now - began < .seconds(5))
  }
}
