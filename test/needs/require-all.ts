/** How tests run with `KBUILD_REQUIRE=all`: one whose needs are unmet fails with the reason, before anything of it runs. */
import { TestRunner, type RunnerTask, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite } from 'vitest';
import { getHooks } from 'vitest/suite';
import { unmet, type Need } from './table.ts';

const reasons = (tags: readonly string[]): readonly string[] => tags.flatMap((tag) => unmet(tag as Need)?.reason ?? []);

const cannotRun = (task: RunnerTask): boolean =>
  task.type === 'test' ? reasons(task.tags ?? []).length > 0 : task.tasks.every(cannotRun);

/** Removes what would fail first, for another reason. */
function removeHooks(suite: RunnerTestSuite): void {
  if (cannotRun(suite)) {
    const hooks = getHooks(suite);
    for (const list of [hooks.beforeAll, hooks.afterAll, hooks.beforeEach, hooks.afterEach]) list.length = 0;
  }
  for (const task of suite.tasks) if (task.type === 'suite') removeHooks(task);
}

// oxlint-disable-next-line no-restricted-exports -- vitest loads runners so
export default class RequireAll extends TestRunner {
  onCollected(files: readonly RunnerTestFile[]): void {
    files.forEach(removeHooks);
  }

  override onBeforeTryTask(test: RunnerTestCase): void {
    super.onBeforeTryTask(test);
    const unmetNeeds = reasons(test.tags ?? []);
    if (unmetNeeds.length > 0) throw new Error(unmetNeeds.join(', '));
  }
}
