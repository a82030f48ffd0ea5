import Glibc
import SDLHeadUnit

package enum HeadUnitScriptFile {
  package enum Failure: Error, Equatable, CustomStringConvertible {
    /// With EISDIR for a folder, and ESPIPE for anything else that is no regular file.
    case unreadable(path: String, errno: Int32)
    case malformed(path: String, MalformedLine)

    /// One line for users, with the path.
    package var description: String {
      switch self {
      case .unreadable(let path, ESPIPE): "\(path) can't be read: it is no regular file"
      case .unreadable(let path, let code): "\(path) can't be read: \(String(cString: strerror(code)))"
      case .malformed(let path, let malformed): "\(path), \(malformed)"
      }
    }
  }

  /// Reads the file at once, and those of the tracks that it drives along.
  /// - Parameter policies: what groups there are; nil does not check their names.
  package static func read(_ path: String, policies: PolicyTable? = .listedApp) throws(Failure) -> HeadUnitScript {
    // One byte more than allowed, to detect a file that is too long.
    let bytes = try bytes(of: path, atMost: HeadUnitScript.maximumByteCount + 1)
    var script: HeadUnitScript
    do throws(MalformedLine) {
      script = try HeadUnitScript(bytes)
      if let policies, let fault = script.fault(in: policies) { throw fault }
    } catch {
      throw .malformed(path: path, error)
    }
    var tracks: [String: GPXTrack] = [:]
    for index in script.steps.indices {
      let step = script.steps[index]
      guard case .drive(let task?) = step.command else { continue }
      do throws(Failure) {
        let known = tracks[task.file]
        let track = if let known { known } else { try track(task.file) }
        tracks[task.file] = track
        script.steps[index].command = .drive(task.with(track))
      } catch {
        throw .malformed(path: path, MalformedLine(line: step.line, text: error.description))
      }
    }
    return script
  }

  /// A typed command, with the track that it drives along.
  package static func completed(_ command: HeadUnitCommand) throws(Failure) -> HeadUnitCommand {
    guard case .drive(let task?) = command else { return command }
    return .drive(task.with(try track(task.file)))
  }

  private static func track(_ path: String) throws(Failure) -> GPXTrack {
    let bytes = try bytes(of: path, atMost: GPXTrack.maximumByteCount + 1)
    do throws(MalformedLine) {
      return try GPXTrack(bytes)
    } catch {
      throw .malformed(path: path, error)
    }
  }

  /// The beginning of any file. A pipe is refused, because its writer may take its time, or never come.
  package static func bytes(of path: String, atMost maximumByteCount: Int) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path, errno: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unreadable(path: path, errno: EISDIR)
    default: throw .unreadable(path: path, errno: ESPIPE)
    }
    var bytes = [UInt8](repeating: 0, count: min(maximumByteCount, Int(clamping: status.st_size)))
    var count = 0
    while count < bytes.count {
      let space = bytes.count - count
      let read = bytes.withUnsafeMutableBytes { buffer in
        // Within the buffer, since there is space.
        Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, space)
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .unreadable(path: path, errno: errno) }
      if read == 0 { break }
      count += read
    }
    return Array(bytes[..<count])
  }
}
