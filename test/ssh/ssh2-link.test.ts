import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { linkOf } from '../../src/ssh/ssh2-link.ts';

type Client = Parameters<typeof linkOf>[0];
type Exec = Client['exec'];

/** A stream of a command, with what was written to it. */
function command() {
  const written: string[] = [];
  const stream = Object.assign(new PassThrough(), { stderr: new PassThrough() });
  stream.on('data', (chunk: Buffer) => void written.push(chunk.toString()));
  return { stream, written };
}

const linkTo = (exec: Exec) =>
  linkOf(Object.assign(new EventEmitter(), { exec, destroy: () => undefined }) as unknown as Client, Promise.race([]), {
    software: 'OpenSSH_9.2',
    loginMs: 1,
  });

const settled = (): Promise<void> => new Promise((done) => void setImmediate(done));

test('what a command reads is sent before the server has said that the command runs, and once', async () => {
  const { stream, written } = command();
  let runs: () => void = () => undefined;
  const start = linkTo((_line, { early }, done) => {
    early(stream);
    runs = () => done(undefined, stream);
  }).start('sh', (to) => void to.write('script'));
  await settled();
  expect(written).toEqual(['script']);
  runs();
  expect((await start).kind).toBe('started');
  await settled();
  expect(written).toEqual(['script']);
});

test('with an ssh2 that tells nothing early, it is sent when the command runs', async () => {
  const { stream, written } = command();
  const { kind } = await linkTo((_line, _options, done) => done(undefined, stream)).start(
    'sh',
    (to) => void to.write('script'),
  );
  await settled();
  expect({ kind, written }).toEqual({ kind: 'started', written: ['script'] });
});

test('a channel that the server refuses gets nothing, and a command that it denies is told', async () => {
  const { stream, written } = command();
  const refused = await linkTo((_line, _options, done) => done(new Error('(SSH) open failed'), stream)).start(
    'sh',
    (to) => void to.write('script'),
  );
  const denied = await linkTo((_line, { early }, done) => {
    early(stream);
    done(new Error('Unable to exec'), stream);
  }).start('sh', (to) => void to.destroy(new Error('closed')));
  await settled();
  expect([refused.kind, denied.kind, written]).toEqual(['refused', 'denied', []]);
});
