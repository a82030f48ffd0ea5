import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp
@testable import SDLAppLink

/// The elements that use an app.
@Suite struct AppMembersTests {
  private let elements: [Element]
  private let video: VideoSink
  private let otherVideo: VideoSink
  private let sound: AudioSink

  init() throws {
    elements = try ["sdlvideosink", "sdlvideosink", "sdlaudiosink"].map { try Element($0) }
    video = VideoSink(elements[0].pointer.cast())
    otherVideo = VideoSink(elements[1].pointer.cast())
    sound = AudioSink(elements[2].pointer.cast())
  }

  private func id(_ element: AnyObject) -> ObjectIdentifier { ObjectIdentifier(element) }

  /// Whether the member can be called.
  private func isReached(_ member: AppMember) -> Bool { member.element.withReference { _ in true } == true }

  @Test func oneElementForEachService() {
    var members = AppMembers(AppMember(video))
    let hasJoined = [AppMember(otherVideo), AppMember(sound), AppMember(sound)].map { members.join($0) }
    #expect(hasJoined == [false, true, false])
    #expect(members.name(of: .video) == elements[0]["name"] && members.name(of: .audio) == elements[2]["name"])
    #expect(members.first?.id == id(video) && members[id(sound)]?.id == id(sound))
    let isOtherThere = members[id(otherVideo)] != nil
    #expect(!isOtherThere && !members.areAway)
  }

  /// Until another element takes its place.
  @Test func theLastOneStaysToPost() {
    var member = AppMember(video)
    member.notifications = [.onTouchEvent]
    var members = AppMembers(member)
    let ofSound = AppMember(sound)
    #expect(members.name(of: .audio) == nil && members.join(ofSound))
    #expect(members.leave(id(sound)) && !isReached(ofSound))
    // It is no member any more.
    #expect(members.leave(id(sound)) && members.notifications == [.onTouchEvent])
    #expect(!members.leave(id(video)) && !members.leave(id(video)))
    #expect(members.areAway && members.notifications == [] && isReached(member))
    #expect(members.name(of: .video) == nil && members.first == nil)
    #expect(members.join(AppMember(otherVideo)) && !isReached(member))
    #expect(!members.areAway && members.first?.id == id(otherVideo))
    #expect(members.name(of: .video) == elements[1]["name"])
  }

  @Test func nothingReachesThemAfterTheEnd() {
    let present = [AppMember(video), AppMember(sound)]
    var members = AppMembers(present[0], present[1])
    var count = 0
    members.withElements { _ in count += 1 }
    #expect(count == 2 && present.allSatisfy(isReached))
    members.removeAll()
    members.withElements { _ in count += 1 }
    #expect(count == 2 && !present.contains(where: isReached))
  }

  @Test func notificationsOfAll() {
    var (ofVideo, ofSound) = (AppMember(video), AppMember(sound))
    ofVideo.notifications = [.onTouchEvent, .onSystemRequest]
    ofSound.notifications = [.onSystemRequest, .onHMIStatus]
    #expect(AppMembers(ofVideo, ofSound).notifications == [.onTouchEvent, .onSystemRequest, .onHMIStatus])
  }

  /// Sound and picture of a pipeline pause together.
  @Test func eachPipelineIsAskedForOnePause() {
    var members = AppMembers(AppMember(video), AppMember(sound))
    #expect(members.requestPause(id(video), of: 1) && !members.requestPause(id(sound), of: 1))
    let wasLast = [id(video), id(sound), id(sound)].map { members.takeBackPause($0) }
    #expect(wasLast == [false, true, false])
    #expect(members.requestPause(id(video), of: 1) && members.requestPause(id(sound), of: 2))
    #expect(members.takeBackPause(id(video)) && members.takeBackPause(id(sound)))
  }
}

/// The phases and the status of an app.
@Suite struct AppClientStateTests {
  private let element: Element
  private let sink: VideoSink

  init() throws {
    element = try Element("sdlvideosink")
    sink = VideoSink(element.pointer.cast())
  }

  private var state: AppClientState { AppClientState(AppMember(sink)) }

  private func status(_ level: HMILevel? = nil, isStreaming: Bool = false) -> AppSession.Status {
    var status = AppSession.Status()
    status.hmi = level.map { HMIStatus(level: $0, videoStreamingState: .streamable) }
    guard isStreaming else { return status }
    status.video.grant = VideoGrant(
      media: MediaGrant(service: .video, epoch: 1, sessionID: 1, version: 5, maximumPayload: 1000),
      size: VideoSize(320, 240))
    return status
  }

  @Test func startsOnce() {
    var state = state
    #expect(state.isUsable && !state.isConnectionRunning)
    #expect(state.start() && !state.start())
    #expect(state.isUsable && state.isConnectionRunning && state.status.connection == .connecting)
    #expect(!state.enter(.connecting) && state.enter(.idle) && !state.isUsable)
    state.connectionEnded()
    #expect(!state.isConnectionRunning)
  }

  /// The error comes before frames may fail.
  @Test func failsOnce() {
    var state = state
    _ = state.start()
    state.failureIsKnown()
    #expect(state.phase == .running)
    #expect(state.fail() && !state.fail())
    #expect(state.phase == .failing && !state.isUsable && state.status.connection == .failed)
    #expect(!state.enter(.ready) && state.status.connection == .failed)
    state.failureIsKnown()
    #expect(state.phase == .failed && !state.fail() && !state.isOver)
  }

  @Test func endsOnce() {
    var state = state
    let members = state.end()
    #expect(members?.first?.id == ObjectIdentifier(sink) && state.isOver && state.members.first == nil)
    let again = state.end() != nil
    #expect(!again && !state.start() && !state.fail() && !state.enter(.ready))
    state.failureIsKnown()
    #expect(state.isOver)
  }

  /// One stop for the application.
  @Test func anEndThatFollowsThatOfAStream() {
    var state = state
    #expect(state.timeOfStreamEnd(now: .seconds(10)) == .zero)
    state.streamEnd = (.seconds(10), .milliseconds(300))
    #expect(state.timeOfStreamEnd(now: .milliseconds(10_999)) == .milliseconds(300))
    #expect(state.timeOfStreamEnd(now: .seconds(11)) == .zero)
  }

  @Test func attempts() {
    var state = state
    #expect(state.beginAttempt(at: .seconds(1)) && !state.beginAttempt(at: .seconds(2)))
    #expect(state.attemptBegan == .seconds(2))
  }

  @Test func aLevelIsNewOnce() {
    var state = state
    let isNew = [status(), status(.full), status(.full, isStreaming: true)].map { state.sessionChanged(to: $0) }
    #expect(isNew == [false, true, false])
    #expect(state.status.isStreaming && state.hasStreamed && state.status.level == .full)
    #expect(state.sessionChanged(to: status(.background)) && !state.status.isStreaming && state.hasStreamed)
  }

  @Test func aLostConnectionIsForgotten() {
    var state = state
    state.status.peer = "192.0.2.7"
    _ = state.sessionChanged(to: status(.full, isStreaming: true))
    state.toldSession = state.status.session
    let last = state.connectionLost()
    #expect(last.peer == "192.0.2.7" && last.level == .full)
    #expect(state.status.peer == nil && state.status.session == AppSession.Status())
    #expect(state.toldSession == AppSession.Status() && state.hasStreamed)
  }

  /// It has one end.
  @Test func progress() {
    var state = state
    #expect(state.isInProgress && state.endProgress() && !state.endProgress())
    state.beginProgress()
    #expect(state.endProgress() && !state.isInProgress)
    state.beginProgress()
    _ = state.end()
    let hadProgress = state.endProgress()
    state.beginProgress()
    #expect(!hadProgress && !state.isInProgress)
  }

  @Test func aLockScreenIsNewOnce() {
    var state = state
    let full = HMIStatus(level: .full, videoStreamingState: .streamable)
    let screens = (0..<2).map { _ in state.changeLockScreen { $0.receive(full) }?.status }
    #expect(screens == [.required, nil])
    _ = state.end()
    let last = state.changeLockScreen { $0 = LockScreen() }
    #expect(last == nil)
  }
}
