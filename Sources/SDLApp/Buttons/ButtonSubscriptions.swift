import SDLMessages

/// The app's subscriptions to buttons of the car: which buttons exist, which are subscribed to, and which the app may
/// not have.
///
/// One request at a time, since an answer does not name its button.
struct ButtonSubscriptions: Sendable {
  private struct Request {
    var button: ButtonName
    /// Whether the app subscribes, rather than unsubscribes.
    var isWanted: Bool
  }

  private var isWanted = false
  private let isMedia: Bool
  private let isNavigation: Bool
  /// The head unit's buttons, as far as SDL Core gives them to an app of this type.
  private var available: [ButtonName] = []
  private var subscribed: Set<ButtonName> = []
  /// Buttons that the head unit has refused in this session.
  private var refused: Set<ButtonName> = []
  /// The head unit refuses requests at this level, or by this policy.
  private var isForbidden = false
  private var unanswered: Request?
  private var keys = ButtonKeys()

  init(_ configuration: AppSession.Configuration) {
    isMedia = configuration.isMediaApplication
    isNavigation = configuration.appType == .navigation
  }

  /// When a held key has to be repeated.
  var nextDeadline: Duration? { keys.nextDeadline }

  mutating func setWanted(_ isWanted: Bool, _ context: inout SessionContext) {
    self.isWanted = isWanted
    if !isWanted { releaseKeys(&context) }
  }

  /// The head unit's list of buttons has come; nil if it sends none.
  mutating func announced(_ buttons: [ButtonName]?) {
    guard let buttons else { return }
    available = buttons.filter { ($0.isForMedia ? isMedia : true) && ($0.isForNavigation ? isNavigation : true) }
  }

  /// HMI level, permissions or encryption have changed, so that a refused request may now be accepted.
  mutating func permissionsChanged() {
    isForbidden = false
  }

  /// Sends the next request, if there is one that the policy allows at this level. Nothing is requested before the
  /// policy is known.
  mutating func reconcile(_ context: inout SessionContext) {
    guard unanswered == nil, !isForbidden, context.isRegistered, let request = nextRequest else { return }
    let function: FunctionID = request.isWanted ? .subscribeButton : .unsubscribeButton
    guard context.permissions?.allow(function, at: context.hmiStatus?.level) == true,
      !context.security.rpc.isPending(for: function)
    else { return }
    unanswered = request
    context.request(function, ButtonSubscription(request.button).json)
  }

  private var nextRequest: Request? {
    let button =
      isWanted
      ? available.first { !subscribed.contains($0) && !refused.contains($0) }
      : ButtonName.allCases.first(where: subscribed.contains)
    return button.map { Request(button: $0, isWanted: isWanted) }
  }

  /// Takes the answer to the request, nil if none came in time. A refused button is not requested again.
  mutating func answered(_ result: RPCResult?, _ context: inout SessionContext) {
    guard let request = unanswered.take() else { return }
    let code = result.flatMap { ResultCode(rawValue: $0.resultCode) }
    let isDone = result?.success == true || code == .ignored
    if !isDone {
      let answer = result.map { "failed, \($0.resultCode)\($0.info.map { ": \($0)" } ?? "")" } ?? "was not answered"
      context.messenger.diagnose(
        "\(request.isWanted ? "SubscribeButton" : "UnsubscribeButton") \(request.button.rawValue) \(answer)")
    }
    switch code {
    case .disallowed, .userDisallowed, .encryptionNeeded: isForbidden = true
    case _ where request.isWanted && isDone: subscribed.insert(request.button)
    case _ where request.isWanted: refused.insert(request.button)
    default: subscribed.remove(request.button)
    }
  }

  /// A press of a button; nil for an unknown one. Presses of buttons that the app is about to unsubscribe from are
  /// ignored.
  mutating func receive(_ notification: ButtonNotification?, _ context: inout SessionContext) {
    guard let notification, context.isRegistered, isWanted, subscribed.contains(notification.button) else { return }
    context.messenger.report(.button(notification))
    report(keys.receive(notification, now: context.now), &context)
  }

  mutating func advance(_ context: inout SessionContext) {
    report(keys.advance(now: context.now), &context)
  }

  /// The release of held buttons will not be reported, or is not wanted.
  mutating func releaseKeys(_ context: inout SessionContext) {
    report(keys.releaseAll(), &context)
  }

  private func report(_ actions: [KeyAction], _ context: inout SessionContext) {
    if !actions.isEmpty { context.messenger.report(.keys(actions)) }
  }
}
