// Shaders. Positions in metres, z up; light is linear until the last line.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
`;

/** Light: a key light, a sky above and a floor below, and some light from the eye. All in linear light. */
const LIGHT = `
uniform vec3 uEye;
const vec3 KEY = vec3(0.35, -0.42, 0.837);   // towards the key light, unit length
vec3 lit(vec3 color, vec3 normal, vec3 position, float gloss) {
  vec3 toEye = normalize(uEye - position);
  float key = max(dot(normal, KEY), 0.0);
  float sky = 0.5 + 0.5 * normal.z;
  float eye = abs(dot(normal, toEye));
  vec3 light = vec3(0.62, 0.60, 0.57) * key + mix(vec3(0.17, 0.16, 0.155), vec3(0.37, 0.39, 0.42), sky) + 0.13 * eye;
  float shine = pow(max(dot(normal, normalize(KEY + toEye)), 0.0), 40.0);
  return color * light + gloss * shine;
}
vec3 encoded(vec3 light) {
  vec3 l = clamp(light, 0.0, 1.0);
  return mix(12.92 * l, 1.055 * pow(l, vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), l));
}
`;

/** What is drawn onto surfaces lies in front of them by a hair: a share of the way to the eye, far above the rounding of
 * depths and below what is seen. */
const ONTO = `
uniform vec3 uEye;
uniform mat4 uViewProjection;
vec4 onto(vec3 p) { return uViewProjection * vec4(mix(p, uEye, 5e-4), 1.0); }
`;

/** Where the key light throws the shadow of a point on the ground. */
const THROWN = `${ONTO}
uniform float uGround;
const vec3 KEY = vec3(0.35, -0.42, 0.837);
vec3 thrown(vec3 p) { return vec3(p.xy - KEY.xy / KEY.z * (p.z - uGround), uGround); }
`;

const SURFACE_VERTEX = `${HEAD}
layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
uniform mat4 uViewProjection;
out vec3 vPosition;
out vec3 vNormal;
void main() {
  vPosition = aPosition;
  // Normals come as long as the areas around; a null one must not become a number that is none.
  vNormal = aNormal / max(length(aNormal), 1e-30);
  gl_Position = uViewProjection * vec4(aPosition, 1.0);
}`;

const SURFACE_FRAGMENT = `${HEAD}${LIGHT}
in vec3 vPosition;
in vec3 vNormal;
uniform vec3 uFront;
uniform vec3 uBack;
uniform float uGloss;
out vec4 color;
void main() {
  vec3 normal = normalize(gl_FrontFacing ? vNormal : -vNormal);
  color = vec4(encoded(lit(gl_FrontFacing ? uFront : uBack, normal, vPosition, uGloss)), 1.0);
}`;

/** A prism around each segment; its ends are hidden by balls. */
const TUBE = `
layout(location = 0) in vec3 aRing;       // cosine, sine, and which end
layout(location = 1) in vec3 aBegin;
layout(location = 2) in vec3 aEnd;
uniform float uRadius;
vec3 around() {
  vec3 axis = aEnd - aBegin;
  vec3 unit = axis / max(length(axis), 1e-30);
  vec3 side = normalize(cross(unit, abs(unit.z) < 0.8 ? vec3(0, 0, 1) : vec3(1, 0, 0)));
  return aRing.x * side + aRing.y * cross(unit, side);
}
vec3 place(vec3 normal) { return mix(aBegin, aEnd, aRing.z) + uRadius * normal; }
`;

const TUBE_VERTEX = `${HEAD}${TUBE}
uniform mat4 uViewProjection;
out vec3 vPosition;
out vec3 vNormal;
void main() {
  vNormal = around();
  vPosition = place(vNormal);
  gl_Position = uViewProjection * vec4(vPosition, 1.0);
}`;

/** Balls: a square that just covers each one as it is seen, and the exact ray through each pixel. */
const BALL_VERTEX = `${HEAD}
layout(location = 0) in vec2 aCorner;
layout(location = 1) in vec3 aCenter;
layout(location = 2) in float aSpeed;
uniform mat4 uView;
uniform mat4 uProjection;
uniform float uRadius;
uniform vec3 uFront;
uniform vec3 uFoam;
uniform float uFastest;
out vec3 vPlace;
flat out vec3 vCenter;
flat out vec3 vColor;
void main() {
  vec3 center = (uView * vec4(aCenter, 1.0)).xyz;
  float distance = length(center);
  bool isSeen = aSpeed >= 0.0 && distance > uRadius;
  vec3 sight = center / distance;
  vec3 right = normalize(cross(sight, abs(sight.y) < 0.9 ? vec3(0, 1, 0) : vec3(1, 0, 0)));
  // The cone that touches the ball has this radius in the plane through its centre.
  float reach = uRadius * distance / sqrt(max(distance * distance - uRadius * uRadius, 1e-30));
  vPlace = center + reach * (aCorner.x * right + aCorner.y * cross(right, sight));
  vCenter = center;
  vColor = mix(uFront, uFoam, uFastest > 0.0 ? clamp(aSpeed / uFastest, 0.0, 1.0) : 0.0);
  gl_Position = isSeen ? uProjection * vec4(vPlace, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const BALL_FRAGMENT = `${HEAD}${LIGHT}
in vec3 vPlace;
flat in vec3 vCenter;
flat in vec3 vColor;
uniform mat4 uView;
uniform mat4 uProjection;
uniform float uRadius;
uniform float uGloss;
out vec4 color;
void main() {
  vec3 ray = normalize(vPlace);
  // |t ray − c|² = r², the nearer t. The offset from the axis keeps the digits that c·c − r² loses far away.
  float middle = dot(ray, vCenter);
  vec3 off = vCenter - middle * ray;
  float inside = uRadius * uRadius - dot(off, off);
  if (inside < 0.0) discard;
  vec3 hit = (middle - sqrt(inside)) * ray;
  vec4 clip = uProjection * vec4(hit, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  // Rows of the view's rotation lead back to the world.
  vec3 normal = normalize((hit - vCenter) * mat3(uView));
  vec3 position = uEye + hit * mat3(uView);
  color = vec4(encoded(lit(vColor, normal, position, uGloss)), 1.0);
}`;

const LINE_VERTEX = `${HEAD}${ONTO}
layout(location = 0) in vec3 aPosition;
void main() {
  gl_Position = onto(aPosition);
}`;

const LINE_FRAGMENT = `${HEAD}
uniform vec4 uColor;
out vec4 color;
void main() { color = uColor; }`;

const SURFACE_SHADOW = `${HEAD}${THROWN}
layout(location = 0) in vec3 aPosition;
out float vHeight;
out vec2 vInside;
void main() {
  vHeight = aPosition.z - uGround;
  vInside = vec2(0.0);
  gl_Position = onto(thrown(aPosition));
}`;

const TUBE_SHADOW = `${HEAD}${THROWN}${TUBE}
out float vHeight;
out vec2 vInside;
void main() {
  vec3 position = place(around());
  vHeight = position.z - uGround;
  vInside = vec2(0.0);
  gl_Position = onto(thrown(position));
}`;

const BALL_SHADOW = `${HEAD}${THROWN}
layout(location = 0) in vec2 aCorner;
layout(location = 1) in vec3 aCenter;
layout(location = 2) in float aSpeed;
uniform float uRadius;
out float vHeight;
out vec2 vInside;
void main() {
  vHeight = aCenter.z - uGround;
  vInside = aCorner;
  vec3 place = thrown(aCenter) + vec3(uRadius * aCorner, 0.0);
  gl_Position = aSpeed >= 0.0 ? onto(place) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

/** What lies on the ground throws no shadow, and nothing below it does. */
const SHADOW_FRAGMENT = `${HEAD}
in float vHeight;
in vec2 vInside;
uniform float uLowest;
uniform vec4 uColor;
out vec4 color;
void main() {
  if (vHeight < uLowest || dot(vInside, vInside) > 1.0) discard;
  color = uColor;
}`;

/** The ground: lines through multiples of the spacing, stronger every fifth, that fade far from the target. */
const GRID_VERTEX = `${HEAD}${ONTO}
layout(location = 0) in vec2 aCorner;
uniform vec3 uTarget;
uniform float uGround;
uniform float uReach;
out vec2 vPlace;
out vec2 vOffset;
void main() {
  vOffset = aCorner;
  vPlace = uTarget.xy + uReach * aCorner;
  gl_Position = onto(vec3(vPlace, uGround));
}`;

const GRID_FRAGMENT = `${HEAD}
in vec2 vPlace;
in vec2 vOffset;
uniform vec3 uLine;
uniform float uSpacing;
out vec4 color;
float lines(vec2 place, vec2 width) {
  vec2 near = abs(fract(place - 0.5) - 0.5) / max(width, vec2(1e-9));
  vec2 line = (1.0 - smoothstep(0.4, 1.3, near)) * (1.0 - smoothstep(0.15, 0.5, width));
  return max(line.x, line.y);
}
void main() {
  vec2 place = vPlace / uSpacing;
  vec2 width = fwidth(place);
  float alpha = max(0.2 * lines(place, width), 0.34 * lines(place / 5.0, width / 5.0));
  // The axes of the run: x red, y green.
  vec2 axis = 1.0 - smoothstep(0.6, 1.8, abs(place) / max(width, vec2(1e-9)));
  vec3 tint = mix(mix(uLine, vec3(0.55, 0.05, 0.04), axis.y), vec3(0.05, 0.35, 0.06), axis.x);
  alpha = max(alpha, 0.6 * max(axis.x, axis.y)) * (1.0 - smoothstep(0.25, 1.0, length(vOffset)));
  if (alpha < 0.004) discard;
  color = vec4(pow(tint, vec3(1.0 / 2.2)), alpha);
}`;

/** Vertex and fragment shader of each program. */
export const PROGRAMS = {
  surface: [SURFACE_VERTEX, SURFACE_FRAGMENT],
  tube: [TUBE_VERTEX, SURFACE_FRAGMENT],
  ball: [BALL_VERTEX, BALL_FRAGMENT],
  line: [LINE_VERTEX, LINE_FRAGMENT],
  surfaceShadow: [SURFACE_SHADOW, SHADOW_FRAGMENT],
  tubeShadow: [TUBE_SHADOW, SHADOW_FRAGMENT],
  ballShadow: [BALL_SHADOW, SHADOW_FRAGMENT],
  grid: [GRID_VERTEX, GRID_FRAGMENT],
};

/** Compiles a program: its handle, and the place of each uniform by name. */
export function compiled(gl, [vertex, fragment]) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error(`shader: ${gl.getShaderInfoLog(shader)}`);
    }
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`program: ${gl.getProgramInfoLog(program)}`);
  }
  const places = {};
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(program, k);
    places[name] = gl.getUniformLocation(program, name);
  }
  return { program, places };
}
