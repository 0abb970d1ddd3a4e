import { useState } from 'preact/hooks';
import type { UsageDay } from '../../api';
import { useNow } from '../../clock';
import { count } from '../../time';
import { dayName, DAYS, scaleFor, thirtyDays, type Metric } from './thirty-days';

const METRICS: readonly Metric[] = ['requests', 'emails', 'deliveries'];
const WORDS: Record<Metric, { text: string; one: string; many: string }> = {
  requests: { text: 'API requests', one: 'request', many: 'requests' },
  emails: { text: 'Mails', one: 'mail', many: 'mails' },
  deliveries: { text: 'Deliveries', one: 'delivery', many: 'deliveries' },
};
const WIDTH = 10; // of a day in the drawing's units, bar and gap
const HEIGHT = 100;

function DaysTable({ days }: { days: UsageDay[] }) {
  return (
    <details class="chart-table">
      <summary>As a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Use by day">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col">Requests</th>
              <th scope="col">Mails</th>
              <th scope="col">Deliveries</th>
            </tr>
          </thead>
          <tbody>
            {[...days].reverse().map((it) => (
              <tr key={it.day}>
                <th scope="row">{dayName(it.day)}</th>
                <td>{it.requests.toLocaleString('en-US')}</td>
                <td>{it.emails.toLocaleString('en-US')}</td>
                <td>{it.deliveries.toLocaleString('en-US')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

// Draws the usage of the last 30 days as bars, one number at a time, and as a table for those who
// do not see or point.
export function UsageChart({ usage, first }: { usage: readonly UsageDay[]; first: Metric }) {
  const [metric, setMetric] = useState<Metric>(first);
  const [pointed, setPointed] = useState<number | null>(null);
  const days = thirtyDays(usage, useNow());
  const words = WORDS[metric];
  const scale = scaleFor(Math.max(...days.map((day) => day[metric])));
  const top = scale[0] ?? 0;
  const total = days.reduce((sum, day) => sum + day[metric], 0);
  const today = days.at(-1)?.[metric] ?? 0;
  const labeled = days.filter((_, index) => index === 0 || index === DAYS / 2 - 1);
  const shown = pointed === null ? undefined : days[pointed];

  return (
    <section class="panel chart-panel" aria-labelledby="chart-title">
      <div class="panel-head">
        <div>
          <h2 id="chart-title">Last 30 days</h2>
          <p class="chart-reading">
            {shown
              ? `${dayName(shown.day)}: ${count(shown[metric], words.one, words.many)}`
              : `${count(total, words.one, words.many)} in all`}
          </p>
        </div>
        <div class="segments" role="group" aria-label="What to show">
          {METRICS.map((it) => (
            <button
              key={it}
              type="button"
              aria-pressed={it === metric}
              onClick={() => setMetric(it)}
            >
              {WORDS[it].text}
            </button>
          ))}
        </div>
      </div>
      <div class="chart">
        <div class="chart-scale" aria-hidden="true">
          {scale.map((value) => (
            <span key={value}>{value.toLocaleString('en-US')}</span>
          ))}
        </div>
        <svg
          class="chart-bars"
          viewBox={`0 0 ${DAYS * WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={
            `${words.text} a day over 30 days: ${total.toLocaleString('en-US')} in all, ` +
            `${today.toLocaleString('en-US')} today`
          }
          onMouseLeave={() => setPointed(null)}
        >
          {scale.map((value) => {
            const y = value === 0 ? HEIGHT : HEIGHT - (value / top) * HEIGHT;
            return (
              <line
                key={value}
                class="chart-line"
                x1={0}
                x2={DAYS * WIDTH}
                y1={y}
                y2={y}
                vector-effect="non-scaling-stroke"
              />
            );
          })}
          {days.map((it, index) => {
            const height = it[metric] === 0 ? 0 : Math.max(1.5, (it[metric] / top) * HEIGHT);
            const kind = index === DAYS - 1 ? 'chart-bar today' : 'chart-bar';
            return (
              <g
                key={it.day}
                class={pointed === index ? 'chart-day pointed' : 'chart-day'}
                onMouseEnter={() => setPointed(index)}
              >
                <rect class="chart-ground" x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
                <rect
                  class={kind}
                  x={index * WIDTH + 1.5}
                  y={HEIGHT - height}
                  width={WIDTH - 3}
                  height={height}
                />
              </g>
            );
          })}
        </svg>
        {total === 0 && <p class="chart-empty">No {words.many} in these 30 days</p>}
        <div class="chart-days" aria-hidden="true">
          {labeled.map((it) => (
            <span key={it.day}>{dayName(it.day)}</span>
          ))}
          <span>Today</span>
        </div>
      </div>
      <DaysTable days={days} />
    </section>
  );
}
