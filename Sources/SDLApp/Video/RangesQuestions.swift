/// The questions to upstream which of the head unit's displays its ranges accept. Several threads may ask at the same
/// time, and the answer to the last question counts.
struct RangesQuestions: Sendable {
  /// What an answer is about.
  enum Subject {
    /// Displays that the head unit has listed since the last choice, whatever the question's own cause.
    case newDisplays
    case sameDisplays
  }

  /// The displays that the head unit lists, whether or not the app supports them; nil while it has listed none.
  private var listedDisplays: [VideoDisplay]?
  /// A question about displays of the present connection's head unit was answered.
  private(set) var isCurrent = false
  private var lastNumber: UInt64 = 0
  /// The question that the present choice is from.
  private(set) var answeredNumber: UInt64 = 0
  /// The first question about listed displays that are not part of the choice yet.
  private var displaysNumber: UInt64?
  /// The last question before the connection was lost last.
  private var numberAtLoss: UInt64 = 0

  mutating func ask(_ cause: VideoNegotiation.ChoiceCause) -> VideoNegotiation.RangesQuestion? {
    lastNumber &+= 1
    if case .headUnit(let displays) = cause {
      listedDisplays = displays
      displaysNumber = lastNumber
    }
    return listedDisplays.map { .init(displays: $0, cause: cause, number: lastNumber) }
  }

  /// - Returns: nil if another thread has asked later and has finished earlier.
  mutating func answered(_ question: VideoNegotiation.RangesQuestion) -> Subject? {
    // The displays of a head unit whose connection is lost are not those of the next one.
    if question.isOfHeadUnit, question.number > numberAtLoss { isCurrent = true }
    guard question.number > answeredNumber else { return nil }
    answeredNumber = question.number
    guard let displaysNumber, question.number >= displaysNumber else { return .sameDisplays }
    self.displaysNumber = nil
    return .newDisplays
  }

  mutating func connectionLost() {
    isCurrent = false
    numberAtLoss = lastNumber
  }
}

extension VideoNegotiation {
  /// Why the choice is made again.
  package enum ChoiceCause: Sendable {
    /// The head unit's capability has changed.
    case headUnit([VideoDisplay])
    /// The app's ranges have changed.
    case ranges
    /// New caps come from upstream, perhaps from another element.
    case caps
  }

  /// The question to upstream before the choice is made: which of these displays its ranges and caps accept.
  package struct RangesQuestion: Sendable {
    package let displays: [VideoDisplay]
    fileprivate let cause: ChoiceCause
    fileprivate let number: UInt64

    fileprivate var isOfHeadUnit: Bool { if case .headUnit = cause { true } else { false } }
    var isOfCaps: Bool { if case .caps = cause { true } else { false } }
  }

  /// The questions to upstream after a change of the session.
  package struct Questions: Sendable {
    /// Nil if the choice stays as it is.
    package internal(set) var ranges: RangesQuestion?
    /// Upstream should send other pictures now.
    package internal(set) var asksUpstream = false
  }

  /// The question which of the accepted sizes upstream can send.
  package struct UpstreamQuestion: Equatable, Sendable {
    /// The head unit's displays, the first choice first.
    package let displays: [VideoDisplay]
    let choiceNumber: UInt64
  }

  /// The consequence for upstream.
  package enum UpstreamAnswer: Equatable, Sendable {
    /// It has to negotiate again: send a RECONFIGURE event.
    case changes
    /// It has been told that already, by another thread or because of an earlier frame. To tell it twice would make it
    /// begin anew in the size that it has just changed to.
    case isChanging
    /// It has no other size.
    case stays
    /// The choice has changed meanwhile: ask again.
    case outdated
  }
}
