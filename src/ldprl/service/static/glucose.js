// An invented patient with an insulin pump, on the page: the equations of ldprl/worlds/glucose.py.

const [BASAL, DECLINE] = [0.25, 0.92];
const [EULER, MINUTES] = [3, 5];
const [CLEARED, VOLUME] = [0.138, 0.12];
const [LOW, HIGH, STEADY] = [70, 180, 120];
const WORDS = 2 ** 32;
/** First and last quarter of an hour at which a meal may begin, and its least and most grams. */
const MEALS = [
  [3, 9, 20, 60],
  [20, 29, 40, 90],
  [44, 56, 40, 90],
];

/** What the sliders may be set to, in the order of what the patient sees. */
export const RANGES = [
  [40, 400],
  [-60, 60],
  [-3, 9],
  [0, 120],
];

/** One day of one patient. A visitor may change whatever is seen. */
export class Patient {
  constructor() {
    this.weight = between(55, 95);
    this.sensitivity = 1.6e-5 * Math.exp(between(-0.3, 0.3));
    this.skinTime = 50 * Math.exp(between(-0.2, 0.2));
    this.gutTime = 40 * Math.exp(between(-0.2, 0.2));
    this.glucose = between(90, 200);
    this.steady = ((BASAL / 15) * 1000) / (VOLUME * this.weight * CLEARED);
    this.insulin = this.steady;
    this.remote = this.active = this.change = 0;
    this.skin = [0, 1].map(() => (BASAL / 15) * this.skinTime);
    this.gut = [0, 0];
    this.meals = new Map(
      MEALS.map(([first, last, least, most]) => [
        Math.floor(between(first, last)),
        between(least, most),
      ]),
    );
    this.step = 0;
    this.eats = this.meals.get(0) ?? 0;
  }

  /** Glucose, its change, insulin on board, and carbohydrates that are about to be eaten. */
  get seen() {
    return [this.glucose, this.change, this.active, this.eats];
  }

  /** Let the patient see what a visitor wants. */
  set(place, value) {
    this[["glucose", "change", "active", "eats"][place]] = value;
  }

  /** Let a quarter of an hour pass with a dose beside the basal rate; return the hours in range. */
  live(extra) {
    const dose = Math.max(0, BASAL + extra);
    const before = this.glucose;
    const { weight, skin, gut, skinTime, gutTime, steady } = this;
    const litres = VOLUME * weight;
    this.active = this.active * DECLINE + (dose - BASAL);
    skin[0] += dose;
    gut[0] += 800 * this.eats;
    for (let part = 0; part < EULER; part += 1) {
      const { glucose, remote, insulin } = this;
      const appears = gut[1] / gutTime / (1.6 * weight);
      const change = appears - 0.006 * (glucose - STEADY) - remote * glucose;
      this.glucose = Math.min(600, Math.max(20, glucose + MINUTES * change));
      this.remote = remote + MINUTES * (this.sensitivity * (insulin - steady) - 0.025 * remote);
      const absorbed = ((skin[1] / skinTime) * 1000) / litres;
      this.insulin = insulin + MINUTES * (absorbed - CLEARED * insulin);
      const [passed, eatenUp] = [skin[0] / skinTime, gut[0] / gutTime];
      skin[1] += MINUTES * (passed - skin[1] / skinTime);
      skin[0] -= MINUTES * passed;
      gut[1] += MINUTES * (eatenUp - gut[1] / gutTime);
      gut[0] -= MINUTES * eatenUp;
    }
    this.step += 1;
    this.change = this.glucose - before;
    this.eats = this.meals.get(this.step) ?? 0;
    return this.isInRange ? 0.25 : 0;
  }

  get isInRange() {
    return this.glucose >= LOW && this.glucose <= HIGH;
  }
}

/** What of a curve is in range, for the drawing. */
export const RANGE = [LOW, HIGH];

function between(low, high) {
  return low + ((high - low) * crypto.getRandomValues(new Uint32Array(1))[0]) / WORDS;
}
