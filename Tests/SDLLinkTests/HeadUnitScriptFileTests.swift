import Glibc
import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLHeadUnitLink

/// Scripts and tracks in files.
@Suite struct HeadUnitScriptFileTests {
  /// A folder that is removed with its files.
  private final class Folder {
    let path = "/tmp/sdl-scripts-\(getpid())-\(UInt64.random(in: 0...(.max)))"
    private var files: [String] = []

    init() { mkdir(path, 0o700) }

    deinit {
      for file in files { unlink(file) }
      rmdir(path)
    }

    func add(_ name: String) -> String {
      files.append("\(path)/\(name)")
      return files[files.count - 1]
    }

    func write(_ name: String, _ text: String) throws -> String {
      let path = add(name)
      let file = try nonNull(fopen(path, "w"))
      fputs(text, file)
      fclose(file)
      return path
    }
  }

  private let folder = Folder()
  private static let track = """
    <gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2024-01-01T00:00:00Z</time></trkpt>
    <trkpt lat="1.001" lon="2"><time>2024-01-01T00:00:10Z</time></trkpt></trkseg></trk></gpx>
    """

  private func failure(_ body: () throws(HeadUnitScriptFile.Failure) -> Void) -> HeadUnitScriptFile.Failure? {
    do throws(HeadUnitScriptFile.Failure) { try body() } catch { return error }
    return nil
  }

  @Test func bytes() throws {
    let path = try folder.write("text", "0123456789")
    let empty = try folder.write("empty", "")
    #expect(try HeadUnitScriptFile.bytes(of: path, atMost: 100) == Array("0123456789".utf8))
    #expect(try HeadUnitScriptFile.bytes(of: path, atMost: 4) == Array("0123".utf8))
    #expect(try HeadUnitScriptFile.bytes(of: empty, atMost: 100) == [])
  }

  /// A pipe has no end that could be waited for.
  @Test func noRegularFile() throws {
    let pipe = folder.add("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    for (path, code, text) in [
      (pipe, ESPIPE, "it is no regular file"), (folder.path, EISDIR, "directory"), ("/nonexistent", ENOENT, "No such"),
    ] {
      let failure = failure { () throws(HeadUnitScriptFile.Failure) in
        _ = try HeadUnitScriptFile.bytes(of: path, atMost: 10)
      }
      #expect(failure == .unreadable(path: path, errno: code))
      #expect(failure?.description.contains("\(path) can't be read: ") == true, "\(path)")
      #expect(failure?.description.contains(text) == true, "\(path)")
    }
  }

  /// Each step gets its track, also when two drive along the same one.
  @Test func tracks() throws {
    let track = try folder.write("track.gpx", Self.track)
    let path = try folder.write("script", "at 1: drive \(track)\nat 2: drive \(track) speed 2\nat 3: press OK\n")
    let script = try HeadUnitScriptFile.read(path)
    let tasks = script.steps.map { step -> DriveTask? in
      if case .drive(let task) = step.command { task } else { nil }
    }
    #expect(tasks.map { $0?.track?.points.count } == [2, 2, nil])
    let typed = try #require(try HeadUnitCommand.parse("drive \(track)"))
    guard case .drive(let task?) = try HeadUnitScriptFile.completed(typed) else {
      return _ = Issue.record("no drive")
    }
    #expect(task.track?.points.count == 2)
    #expect(try HeadUnitScriptFile.completed(.cut) == .cut)
  }

  /// One that is too long is refused, and not cut.
  @Test(arguments: [(0, true), (1, false)]) func longestScript(excess: Int, isRead: Bool) throws {
    let end = "at 1: cut"
    let count = HeadUnitScript.maximumByteCount + excess - end.utf8.count
    let path = try folder.write("script", String(repeating: "\n", count: count) + end)
    #expect((try? HeadUnitScriptFile.read(path))?.steps.count == (isRead ? 1 : nil))
  }

  @Test func whereAFaultIs() throws {
    let wrong = try folder.write("wrong", "at 1: press OK\n\nat 2: nonsense\n")
    let lost = try folder.write("lost", "at 1: press OK\nat 2: drive /nonexistent.gpx\n")
    let faults = [wrong, lost].map { path in
      failure { () throws(HeadUnitScriptFile.Failure) in _ = try HeadUnitScriptFile.read(path) }?.description ?? ""
    }
    #expect(faults[0].hasPrefix("\(wrong), line 3: "), "\(faults[0])")
    #expect(faults[1].hasPrefix("\(lost), line 2: /nonexistent.gpx can't be read: "), "\(faults[1])")
    let track = try folder.write("track.gpx", "<gpx/>")
    let typed = try #require(try HeadUnitCommand.parse("drive \(track)"))
    let fault = failure { () throws(HeadUnitScriptFile.Failure) in _ = try HeadUnitScriptFile.completed(typed) }
    #expect(fault?.description.hasPrefix("\(track), line ") == true, "\(fault?.description ?? "none")")
  }
}
