import Foundation
import Testing

/// Programs in other languages that embed the sink.
@Suite struct EmbeddingTests {
  private let folder: TemporaryFolder
  private let programs = Installation.package.appending(path: "Tests/Pipelines/Programs")

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Compiles a C program of this folder and returns its path.
  private func compile(_ name: String) throws -> String {
    let program = folder.path(name)
    let source = programs.appending(path: "\(name).c").path
    let result = try Program.run(
      "sh", "-c", "cc -Wall -Wextra -Werror -o \"$1\" \"$2\" $(pkg-config --cflags --libs gstreamer-1.0)", "sh",
      program,
      source, in: folder)
    try #require(result.status == 0, "\(result)")
    return program
  }

  @Test func cProgram() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let result = try Program.run(try compile("embed"), headUnit.uri, in: folder)
    expectDrive(result)
    #expect(headUnit.waitForEnd().status == 0)
  }

  @Test func pythonProgram() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let result = try Program.run(
      "/usr/bin/python3", programs.appending(path: "embed.py").path, headUnit.uri, in: folder)
    expectDrive(result)
    #expect(headUnit.waitForEnd().status == 0)
  }

  /// Both programs print the same.
  private func expectDrive(_ result: Program.Result) {
    #expect(result.status == 0, "\(result)")
    let lines = result.output.split(separator: "\n")
    for line in ["sdl-connected", "sdl-stream-started 800 480", "sdl-stream-stopped app", "sdl-disconnected"] {
      #expect(lines.contains { $0 == line }, "\(line) in \(result)")
    }
    #expect(lines.contains("in 30 sent 30 dropped 0 queued 0"), "\(result)")
  }

  @Test(arguments: ["sdl+builtin:default", nil])
  func cyclesLeakNothing(_ uri: String?) throws {
    let headUnit = try uri == nil ? HeadUnitProgram(in: folder) : nil
    let result = try Program.run(
      try compile("cycle"), try #require(uri ?? headUnit?.uri), "100", in: folder, environment: Self.tracer)
    expectNoLeaks(result)
  }

  /// Not in gst-launch's syntax, which loses a reference to the child of any GstChildProxy with each property.
  @Test func changingRangesLeaksNothing() throws {
    let result = try Program.run(try compile("ranges"), "10", in: folder, environment: Self.tracer)
    expectNoLeaks(result)
    #expect(result.output == String(repeating: "800 320\n", count: 10), "\(result)")
  }

  private static let tracer = ["GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"]

  private func expectNoLeaks(_ result: Program.Result) {
    #expect(result.status == 0, "\(result)")
    // The tracer names the formats of its lines first.
    let leaks = result.errors.split(separator: "\n").filter { $0.contains(":: object-alive, ") }
    #expect(leaks.isEmpty, "\(leaks.joined(separator: "\n"))")
    #expect(result.errors.contains("GST_TRACER"), "the tracer was not there")
  }
}
