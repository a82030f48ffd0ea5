import Glibc
import SDLHeadUnit

/// The expectations of a run as JUnit XML (`--junit`), the format that continuous integration reads.
struct TestReport: Sendable {
  private struct Case: Sendable {
    let outcome: TestOutcome
    /// What the log said last, for a failure.
    let log: [String]
    /// A file with what the app showed then.
    var screenshot: String?
  }

  /// Failures with the end of the log; what comes after so many is a consequence.
  private static let mostLogs = 50

  /// Each takes a second.
  private static let mostScreenshots = 10

  private var cases: [Case] = []

  var failureCount: Int { cases.count { $0.outcome.failure != nil } }
  var count: Int { cases.count }

  /// - Returns: the number of the case if it is a failure for which a screenshot is wanted, from 1 on.
  mutating func note(_ outcome: TestOutcome, log: [String]) -> Int? {
    let failures = failureCount
    let showsLog = outcome.failure != nil && failures < Self.mostLogs
    cases.append(Case(outcome: outcome, log: showsLog ? log : []))
    return showsLog && failures < Self.mostScreenshots ? cases.count : nil
  }

  mutating func setScreenshot(_ path: String, ofCase number: Int) {
    cases[number - 1].screenshot = path
  }

  /// - Parameters:
  ///   - suite: the name of the script.
  ///   - time: of the whole run, in seconds.
  func xml(suite: String, time: Double) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite name="\(suite.xml)" tests="\(count)" failures="\(failureCount)" time="\(time)">

      """
    for one in cases {
      let outcome = one.outcome
      let name = (outcome.line.map { "line \($0): " } ?? "") + outcome.text
      let seconds = outcome.time / .seconds(1)
      text += "  <testcase classname=\"\(suite.xml)\" name=\"\(name.xml)\" time=\"\(seconds)\""
      guard let failure = outcome.failure else {
        text += "/>\n"
        continue
      }
      text += ">\n    <failure message=\"\(failure.xml)\">\(one.log.joined(separator: "\n").xml)</failure>\n"
      // As GitLab's and Jenkins' readers of the format know it.
      if let screenshot = one.screenshot { text += "    <system-out>[[ATTACHMENT|\(screenshot.xml)]]</system-out>\n" }
      text += "  </testcase>\n"
    }
    return text + "</testsuite>\n"
  }
}

extension String {
  /// Safe in an attribute or an element; what XML 1.0 can't express is left out.
  fileprivate var xml: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "&": text += "&amp;"
      case "\"": text += "&quot;"
      case "\n": text += "&#10;"
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: break
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
