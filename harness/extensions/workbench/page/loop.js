// What is typed goes to the command, and the answers of the newest try come back as they arrive.

/** Milliseconds after the last key. */
const PAUSE = 250;

/**
 * Sends what *read* returns, and gives what comes back to *page*:
 *
 * - `page.sent()`: something is on its way;
 * - `page.accepted(answer)`: a run of it has begun, or it was a try already;
 * - `page.refused(error)`: it is wrong, and nothing was begun;
 * - `page.arrived(answers, isCurrent)`: rows of the newest run, and in the last answers its figures;
 * - `page.failed(error)`: no more of that run will arrive.
 *
 * One text is on its way at a time, so that of many typed in a second only the newest is sent after it. Answers of an
 * older run are thrown away.
 */
export const makeLoop = (ask, read, page) => {
  const loop = {};
  let timer;
  let isSending = false;
  let isNext = false;
  let turn = 0;

  const follow = async (run, since = 0) => {
    const own = ++turn;
    const isCurrent = () => own === turn;
    while (isCurrent()) {
      const answers = await ask(`answers?run=${encodeURIComponent(run)}&since=${since}`);
      if (!isCurrent()) return;
      if (answers.superseded) throw new Error("Another window of this page sent another text. Ctrl+Enter sends this one.");
      since = answers.since;
      await page.arrived(answers, isCurrent);
      if (answers.over || answers.error) return;
    }
  };

  const send = async () => {
    const wanted = read();
    if (!wanted) return;
    page.sent();
    let answer;
    try {
      answer = await ask("try", wanted);
    } catch (error) {
      page.refused(error, wanted);
      return;
    }
    page.accepted(answer, wanted);
    if (answer.run !== undefined) loop.follow(answer.run);
  };

  /** Shows the answers of a run, from now on and of no other. */
  loop.follow = (run) => follow(run).catch(page.failed);

  /** No answers of a run are shown any more. */
  loop.leave = () => {
    turn += 1;
  };

  /** Sends now, or as soon as the text on its way was taken. */
  loop.send = async () => {
    clearTimeout(timer);
    if (isSending) {
      isNext = true;
      return;
    }
    isSending = true;
    do {
      isNext = false;
      await send();
    } while (isNext);
    isSending = false;
  };

  /** Sends after a pause in typing. */
  loop.sendSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(loop.send, PAUSE);
  };

  /** What was typed is not sent after all. */
  loop.hold = () => clearTimeout(timer);
  return loop;
};
