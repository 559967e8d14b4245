import { Interrupted } from '../errors.ts';
import { Secret } from '../shell/secret.ts';
import { recordHostKey } from '../ssh/known-hosts.ts';
import { keyText, type UnknownHostKey } from '../ssh/unknown-host-key.ts';
import type { Context } from './context.ts';

/** What kbuild asks the operator while it connects. One question at a time, however many hosts wait. */
export interface Questions {
  /** The sudo password of a user, the same on all hosts where that user logs in. Asked once in a run. */
  readonly sudo: (user: string) => Promise<Secret>;
  /** The passphrase of a key file. Asked once in a run. */
  readonly passphrase: (file: string) => Promise<Secret>;
  /** Asks, as ssh does, whether to trust a host key that no file knows; records it on a yes. False on a no. */
  readonly trust: (unknown: UnknownHostKey) => Promise<boolean>;
  /** True while a question waits for its answer. */
  readonly isAsking: () => boolean;
}

/** The first lines and the question are those of ssh(1), so that the operator knows them. */
const introduction = ({ host, where, key, file }: UnknownHostKey): string =>
  [
    `The authenticity of host '${host} (${where})' can't be established.`,
    `${keyText(key)}.`,
    `The key is not known. A yes records it in ${file ?? 'no file'}.`,
    '',
  ].join('\n');

/** `yes`, or the fingerprint itself: the operator has it from another source, and kbuild compares it. */
async function isTrusted({ ask, err }: Pick<Context, 'ask' | 'err'>, unknown: UnknownHostKey): Promise<boolean> {
  err(introduction(unknown));
  let question = 'Are you sure you want to continue connecting (yes/no/[fingerprint])? ';
  for (;;) {
    const answer = (await ask(question)).trim();
    if (answer.toLowerCase() === 'yes' || answer === unknown.fingerprint) return true;
    if (answer.toLowerCase() === 'no') return false;
    question = answer.startsWith('SHA256:')
      ? "This is not the fingerprint of the key. Please type 'no', or the fingerprint: "
      : "Please type 'yes', 'no' or the fingerprint: ";
  }
}

/** undefined if there is no terminal to ask on. Calls `onSecret` for every secret that is typed. */
export function questions(context: Context, onSecret: (secret: Secret) => void): Questions | undefined {
  if (!context.canAsk) return undefined;
  const answers = new Map<string, Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;
  const once = <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return known;
    open += 1;
    const answer = last
      .then((before) => {
        // An operator who ends one question answers no other.
        if (before instanceof Interrupted) throw before;
        return ask();
      })
      .finally(() => (open -= 1));
    last = answer.catch((error: unknown) => error);
    answers.set(question, answer);
    return answer;
  };
  const secret = (question: string): Promise<Secret> =>
    once(question, async () => {
      const typed = Secret.of(await context.askHidden(question));
      onSecret(typed);
      return typed;
    });
  return {
    sudo: (user) => secret(`sudo password of ${user}: `),
    passphrase: (file) => secret(`Passphrase of ${file}: `),
    // Bastions are shared: their key is asked about once.
    trust: (unknown) =>
      once(`${unknown.where} ${unknown.fingerprint}`, async () => {
        if (unknown.file === undefined || !(await isTrusted(context, unknown))) return false;
        recordHostKey(unknown.file, unknown.known.address, unknown.known.port, unknown.key);
        return true;
      }),
    isAsking: () => open > 0,
  };
}
