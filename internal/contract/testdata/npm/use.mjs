// What the npm package promises, in browsers and in Node alike. Gives the cleaned page.
import { UninkError, clean, close } from 'unink';

export async function use({ page, small, heic }) {
  const stages = [];
  let loaded = 0;
  const { image, layers, before, report } = await clean(page, {
    format: 'png', returnLayers: true, returnBefore: true,
    onStage: (stage) => stages.push(stage), onLoad: (share) => { loaded = share; },
  });
  same(stages.join(), 'input,orient,flatten,demoire,segment,erase,finish');
  same(loaded, 1);
  same([image, layers.handwriting, layers.mask].map(({ type }) => type).join(), 'image/png,image/png,image/png');
  same(before, undefined); // the page lies as it came
  same(report.removed > 0.01 && report.ms.total > 0, true);

  same((await clean(heic, { finish: 'colour', format: 'png' })).image.type, 'image/png');

  await isRefused(small);
  await isStopped(page, small); // and leaves an idle worker, for which Node does not stay
  return image;
}

/** A page is stopped while it is worked on, others while they wait; what is behind them is cleaned. */
async function isStopped(page, small) {
  const stop = new AbortController();
  const first = failure(clean(page, { signal: stop.signal, onStage: () => stop.abort() }));
  const second = failure(clean(page, { signal: stop.signal }));
  const third = failure(clean(page, { signal: AbortSignal.abort('not now') }));
  const last = clean(small, { finish: 'colour', remove: ['blue', 'red'] });
  same(await third, 'not now');
  same((await first).name, 'AbortError');
  same((await second).name, 'AbortError');
  same((await last).layers, undefined);
}

async function isRefused(small) {
  const code = async (...order) => {
    const error = await failure(clean(...order));
    same(error instanceof UninkError, true);
    return error.code;
  };
  same(await code(new Blob(['no picture'])), 'format');
  same(await code(small, { remove: ['pink'] }), 'option');
  same(await code('small.png'), 'option');
  const closed = code(small);
  close();
  same(await closed, 'canceled');

  await clean(small); // so that the engine is there
  const closedInMidRead = new Blob([small]);
  closedInMidRead.arrayBuffer = () => {
    close();
    return small.arrayBuffer();
  };
  same(await code(closedInMidRead), 'canceled');
}

const failure = (promise) => promise.then(() => 'it did not fail', (error) => error);

function same(got, want) {
  if (got !== want) throw new Error(`${got}, not ${want}`);
}
