import { Secret } from '../../shell/secret.ts';
import type { Context } from '../context.ts';

/** Questions for secrets, each asked once in a run. */
interface Passwords {
  /** The sudo password of a user, the same on all hosts where that user logs in. */
  readonly sudo: (user: string) => Promise<Secret>;
  /** The passphrase of a key file. */
  readonly passphrase: (file: string) => Promise<Secret>;
}

/** undefined if there is no terminal to ask on. Calls `onSecret` for every answer. */
export function passwords(context: Context, onSecret: (secret: Secret) => void): Passwords | undefined {
  if (!context.canAsk) return undefined;
  const answers = new Map<string, Promise<Secret>>();
  let last: Promise<unknown> = Promise.resolve();
  const once = (question: string): Promise<Secret> => {
    const known = answers.get(question);
    if (known !== undefined) return known;
    // One question at a time, however many hosts wait.
    const answer = last.then(async () => {
      const secret = Secret.of(await context.askHidden(question));
      onSecret(secret);
      return secret;
    });
    last = answer.catch(() => undefined);
    answers.set(question, answer);
    return answer;
  };
  return {
    sudo: (user) => once(`sudo password of ${user}: `),
    passphrase: (file) => once(`Passphrase of ${file}: `),
  };
}
