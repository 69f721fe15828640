//! Materials: named presets, and tables that start from one and change what they name.
//!
//! Presets are orders of magnitude, not measurements of a particular piece; `docs/materials.md` has each with its
//! source. Fabrics: areal densities and thicknesses of common weights; bending rigidities in the ranges of the bending
//! tests of [Kawabata 1980] (0.02–0.1 gf·cm²/cm for silk and shirting, 0.1–0.2 for wool suiting, about 1 for denim;
//! 1 gf·cm²/cm = 9.8e-5 N m); the stretch moduli are those of the first per cents, where yarns uncrimp. Solids:
//! densities and Young's moduli at small strain [Ashby 2011; Fung 1993; Gibson 1997; Markidou 2005; Wood Handbook 2010],
//! and Poisson ratios kept below 0.49, where tetrahedra still deform. Ropes [McKenna 2004]; twills [Morton 2008]. Fluids: density and kinematic viscosity, dynamic viscosity over density,
//! near 20 °C [CRC Handbook 2016] for water, ethanol, glycerol and mercury; the foods and the motor oil vary by kind.

use littoral_sim::scene::{ClothMaterial, LiquidMaterial, MembraneModel, SoftMaterial, SolidModel};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::marker::PhantomData;

/// Preset of a cloth that names none.
pub(crate) const CLOTH_DEFAULT: &str = "cotton";
/// Preset of a soft body that names none.
pub(crate) const SOFT_DEFAULT: &str = "silicone";
/// Preset of a fluid that names none.
pub(crate) const FLUID_DEFAULT: &str = "water";

/// name, density [kg/m²], E [Pa], ν [–], thickness [m], bending stiffness [N m] (0: from E, ν and thickness)
type ClothRow = (&'static str, f64, f64, f64, f64, f64);
/// name, density [kg/m³], E [Pa], ν [–], damping [s]
type SoftRow = (&'static str, f64, f64, f64, f64);

/// name, density [kg/m³], kinematic viscosity [m²/s]
type FluidRow = (&'static str, f64, f64);

const CLOTHS: &[ClothRow] = &[
    ("silk", 0.07, 1.5e6, 0.30, 1.5e-4, 3.0e-6),
    ("cotton", 0.2, 0.8e6, 0.24, 3.0e-4, 6.0e-6),
    ("linen", 0.22, 1.2e6, 0.25, 3.5e-4, 1.5e-5),
    ("wool", 0.26, 0.5e6, 0.30, 6.0e-4, 1.2e-5),
    ("jersey", 0.2, 0.2e6, 0.35, 7.0e-4, 3.0e-6),
    ("denim", 0.42, 1.5e6, 0.20, 8.0e-4, 8.0e-5),
    ("leather", 0.8, 8.0e6, 0.40, 1.2e-3, 6.0e-4),
    ("rubber-sheet", 1.1, 1.5e6, 0.47, 1.0e-3, 0.0),
];

const SOFTS: &[SoftRow] = &[
    ("jelly", 1030.0, 1.0e4, 0.45, 5e-3),
    ("tissue", 1060.0, 3.0e4, 0.45, 5e-3),
    ("silicone", 1070.0, 1.0e5, 0.45, 2e-3),
    ("rubber", 1100.0, 1.0e6, 0.47, 1e-3),
    ("foam", 40.0, 5.0e4, 0.15, 5e-3),
    ("cork", 200.0, 2.0e7, 0.05, 1e-3),
    ("wood", 680.0, 1.2e10, 0.35, 1e-5),
    ("steel", 7850.0, 2.0e11, 0.29, 1e-6),
];

/// What a rope is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeMaterial {
    /// Density with its hollows [kg/m³].
    pub density: f64,
    /// Young's modulus of its outline [Pa].
    pub young: f64,
    /// Poisson's ratio [–].
    pub poisson: f64,
    /// Bending and twisting stiffness, over those of a solid bar [–].
    pub flexural: f64,
}

const fn rope(density: f64, young: f64, poisson: f64, flexural: f64) -> RopeMaterial {
    RopeMaterial { density, young, poisson, flexural }
}

/// Bending stiffness of a bundle of yarns that slide, over that of a bar: 1/n, for some hundred yarns in a rope of a finger's
/// width. N yarns of radius r/√N have N π (r/√N)⁴/4.
const YARNS: f64 = 0.01;

const ROPES: &[(&str, RopeMaterial)] = &[
    ("hemp-rope", rope(900.0, 5.0e8, 0.3, YARNS)),
    ("cotton-rope", rope(850.0, 2.0e8, 0.3, YARNS)),
    ("nylon-rope", rope(800.0, 3.0e8, 0.3, YARNS)),
    ("steel-wire", rope(7850.0, 2.0e11, 0.29, 1.0)),
    ("rubber-cord", rope(1100.0, 1.5e6, 0.47, 1.0)),
];

const FLUIDS: &[FluidRow] = &[
    ("water", 1000.0, 1.0e-6),
    ("sea-water", 1025.0, 1.05e-6),
    ("milk", 1030.0, 2.0e-6),
    ("alcohol", 789.0, 1.5e-6),
    ("oil", 915.0, 9.0e-5),
    ("motor-oil", 880.0, 3.0e-4),
    ("glycerin", 1260.0, 1.1e-3),
    ("syrup", 1370.0, 2.0e-3),
    ("honey", 1420.0, 7.0e-3),
    ("mercury", 13_550.0, 1.13e-7),
];

/// Names of the presets of cloths.
pub fn cloth_presets() -> impl Iterator<Item = &'static str> {
    CLOTHS.iter().map(|row| row.0)
}

/// Names of the presets of soft bodies.
pub fn soft_presets() -> impl Iterator<Item = &'static str> {
    SOFTS.iter().map(|row| row.0)
}

/// Names of the presets of fluids.
pub fn fluid_presets() -> impl Iterator<Item = &'static str> {
    FLUIDS.iter().map(|row| row.0)
}

/// Names of the presets of ropes and wires.
pub fn rope_presets() -> impl Iterator<Item = &'static str> {
    ROPES.iter().map(|row| row.0)
}

/// A preset of a rope or wire.
pub fn rope_preset(name: &str) -> Option<RopeMaterial> {
    ROPES.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// A preset of a fluid.
pub fn fluid_preset(name: &str) -> Option<LiquidMaterial> {
    FLUIDS.iter().find(|row| row.0 == name).map(|&(_, density, viscosity)| LiquidMaterial {
        density,
        viscosity,
        ..LiquidMaterial::default()
    })
}

/// A preset of a cloth.
pub fn cloth_preset(name: &str) -> Option<ClothMaterial> {
    CLOTHS.iter().find(|row| row.0 == name).map(|&(_, density, young, poisson, thickness, bending)| {
        let bending = Some(bending).filter(|&b| b > 0.0);
        ClothMaterial { density, young, poisson, thickness, bending, ..ClothMaterial::default() }
    })
}

/// A preset of a soft body.
pub fn soft_preset(name: &str) -> Option<SoftMaterial> {
    SOFTS.iter().find(|row| row.0 == name).map(|&(_, density, young, poisson, damping)| SoftMaterial {
        density,
        young,
        poisson,
        damping,
        ..SoftMaterial::default()
    })
}

/// Material of a cloth: the name of a preset, or a table.
pub type ClothMaterialSpec = MaterialSpec<ClothValues>;
/// Material of a soft body: the name of a preset, or a table.
pub type SoftMaterialSpec = MaterialSpec<SoftValues>;
/// Material of a fluid: the name of a preset, or a table.
pub type FluidMaterialSpec = MaterialSpec<FluidValues>;

/// The name of a preset, or a table of values.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialSpec<T> {
    /// The name of a preset.
    Preset(String),
    /// Values; those left out come from `preset`.
    Values(T),
}

impl Default for ClothMaterialSpec {
    fn default() -> Self {
        MaterialSpec::Preset(CLOTH_DEFAULT.to_owned())
    }
}

impl Default for SoftMaterialSpec {
    fn default() -> Self {
        MaterialSpec::Preset(SOFT_DEFAULT.to_owned())
    }
}

impl Default for FluidMaterialSpec {
    fn default() -> Self {
        MaterialSpec::Preset(FLUID_DEFAULT.to_owned())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for MaterialSpec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<T> {
            type Value = MaterialSpec<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of a preset or a table of values")
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(MaterialSpec::Preset(name.to_owned()))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(MaterialSpec::Values)
            }
        }
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

/// Values of a cloth's material.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClothValues {
    /// The preset that gives what is left out here. Default: cotton.
    pub preset: Option<String>,
    /// Mass per area [kg/m²].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Young's modulus [Pa].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub young: Option<f64>,
    /// Poisson's ratio [–].
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poisson: Option<f64>,
    /// Thickness [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub thickness: Option<f64>,
    /// Bending stiffness D [N m]. Default: that of the preset, or E t³ / 12(1−ν²) when young, poisson or thickness is given.
    #[schemars(range(min = 0))]
    pub bending: Option<f64>,
    /// Rate damping: stress per strain rate over stress per strain [s].
    #[schemars(range(min = 0))]
    pub damping: Option<f64>,
    /// Air drag: force per area and normal velocity [kg/(m² s)].
    #[schemars(range(min = 0))]
    pub drag: Option<f64>,
    /// Membrane energy.
    pub model: Option<MembraneName>,
    /// Stretch beyond which it stiffens steeply [–]: 0.05 lets it be 5 % longer. Default: never.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub strain_limit: Option<f64>,
    /// Curvature beyond which folds stay [1/m]: 1000 creases what is bent tighter than a millimetre. Default: never.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub yield_curvature: Option<f64>,
}

/// Values of a soft body's material.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SoftValues {
    /// The preset that gives what is left out here. Default: silicone.
    pub preset: Option<String>,
    /// Mass per volume [kg/m³].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Young's modulus [Pa].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub young: Option<f64>,
    /// Poisson's ratio [–].
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poisson: Option<f64>,
    /// Rate damping: stress per strain rate over stress per strain [s].
    #[schemars(range(min = 0))]
    pub damping: Option<f64>,
    /// Volumetric energy.
    pub model: Option<SolidName>,
    /// Von Mises stress beyond which it flows, and keeps its shape [Pa]. Default: never.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub yield_stress: Option<f64>,
}

/// Values of a fluid's material.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FluidValues {
    /// The preset that gives what is left out here. Default: water.
    pub preset: Option<String>,
    /// Mass per volume [kg/m³].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Kinematic viscosity [m²/s]: water 1e-6, honey 7e-3.
    #[schemars(range(min = 0))]
    pub viscosity: Option<f64>,
    /// Pressure per relative compression [Pa]. Default: follows from `solver.volume_error`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: Option<f64>,
}

/// Membrane energy of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MembraneName {
    /// Compressible neo-Hookean in the plane.
    NeoHookean,
    /// St. Venant–Kirchhoff.
    StVenantKirchhoff,
}

/// Volumetric energy of a soft body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolidName {
    /// Stable neo-Hookean.
    StableNeoHookean,
    /// Fixed corotated.
    FixedCorotated,
}

impl ClothMaterialSpec {
    /// Name of the preset it starts from.
    pub(crate) fn preset(&self) -> &str {
        match self {
            MaterialSpec::Preset(name) => name,
            MaterialSpec::Values(v) => v.preset.as_deref().unwrap_or(CLOTH_DEFAULT),
        }
    }

    /// The material, lengths in metres by `metres`; `None` when the preset is unknown.
    pub(crate) fn resolve(&self, metres: impl Fn(f64) -> f64) -> Option<ClothMaterial> {
        let base = cloth_preset(self.preset())?;
        let MaterialSpec::Values(v) = self else { return Some(base) };
        let is_stiffness_given = v.young.is_some() || v.poisson.is_some() || v.thickness.is_some();
        Some(ClothMaterial {
            density: v.density.unwrap_or(base.density),
            young: v.young.unwrap_or(base.young),
            poisson: v.poisson.unwrap_or(base.poisson),
            thickness: v.thickness.map_or(base.thickness, metres),
            bending: v.bending.or(if is_stiffness_given { None } else { base.bending }),
            damping: v.damping.unwrap_or(base.damping),
            drag: v.drag.unwrap_or(base.drag),
            model: match v.model {
                None => base.model,
                Some(MembraneName::NeoHookean) => MembraneModel::NeoHookean,
                Some(MembraneName::StVenantKirchhoff) => MembraneModel::StVenantKirchhoff,
            },
            strain_limit: v.strain_limit.or(base.strain_limit),
            yield_curvature: v.yield_curvature.or(base.yield_curvature),
        })
    }

    /// The same material with every value written out; `length` turns metres into the scene's unit where it can.
    pub(crate) fn filled(&self, metres: impl Fn(f64) -> f64, length: impl Fn(f64) -> Option<f64>) -> Self {
        let Some(m) = self.resolve(metres) else { return self.clone() };
        let given = match self {
            MaterialSpec::Preset(_) => None,
            MaterialSpec::Values(v) => v.thickness,
        };
        let model = match m.model {
            MembraneModel::NeoHookean => MembraneName::NeoHookean,
            MembraneModel::StVenantKirchhoff => MembraneName::StVenantKirchhoff,
        };
        MaterialSpec::Values(ClothValues {
            preset: Some(self.preset().to_owned()),
            density: Some(m.density),
            young: Some(m.young),
            poisson: Some(m.poisson),
            thickness: given.or_else(|| length(m.thickness)),
            bending: m.bending,
            damping: Some(m.damping),
            drag: Some(m.drag),
            model: Some(model),
            strain_limit: m.strain_limit,
            yield_curvature: m.yield_curvature,
        })
    }
}

impl SoftMaterialSpec {
    /// Name of the preset it starts from.
    pub(crate) fn preset(&self) -> &str {
        match self {
            MaterialSpec::Preset(name) => name,
            MaterialSpec::Values(v) => v.preset.as_deref().unwrap_or(SOFT_DEFAULT),
        }
    }

    /// The material; `None` when the preset is unknown.
    pub(crate) fn resolve(&self) -> Option<SoftMaterial> {
        let base = soft_preset(self.preset())?;
        let MaterialSpec::Values(v) = self else { return Some(base) };
        Some(SoftMaterial {
            density: v.density.unwrap_or(base.density),
            young: v.young.unwrap_or(base.young),
            poisson: v.poisson.unwrap_or(base.poisson),
            damping: v.damping.unwrap_or(base.damping),
            model: match v.model {
                None => base.model,
                Some(SolidName::StableNeoHookean) => SolidModel::StableNeoHookean,
                Some(SolidName::FixedCorotated) => SolidModel::FixedCorotated,
            },
            yield_stress: v.yield_stress.or(base.yield_stress),
        })
    }

    /// The same material with every value written out.
    pub(crate) fn filled(&self) -> Self {
        let Some(m) = self.resolve() else { return self.clone() };
        let model = match m.model {
            SolidModel::StableNeoHookean => SolidName::StableNeoHookean,
            SolidModel::FixedCorotated => SolidName::FixedCorotated,
        };
        MaterialSpec::Values(SoftValues {
            preset: Some(self.preset().to_owned()),
            density: Some(m.density),
            young: Some(m.young),
            poisson: Some(m.poisson),
            damping: Some(m.damping),
            model: Some(model),
            yield_stress: m.yield_stress,
        })
    }
}

impl FluidMaterialSpec {
    /// Name of the preset it starts from.
    pub(crate) fn preset(&self) -> &str {
        match self {
            MaterialSpec::Preset(name) => name,
            MaterialSpec::Values(v) => v.preset.as_deref().unwrap_or(FLUID_DEFAULT),
        }
    }

    /// The material of a fluid that sticks to surfaces or not; `None` when the preset is unknown.
    pub(crate) fn resolve(&self, no_slip: bool) -> Option<LiquidMaterial> {
        let base = fluid_preset(self.preset())?;
        let MaterialSpec::Values(v) = self else { return Some(LiquidMaterial { no_slip, ..base }) };
        Some(LiquidMaterial {
            density: v.density.unwrap_or(base.density),
            viscosity: v.viscosity.unwrap_or(base.viscosity),
            stiffness: v.stiffness.or(base.stiffness),
            no_slip,
        })
    }

    /// The same material with every value written out.
    pub(crate) fn filled(&self) -> Self {
        let Some(m) = self.resolve(false) else { return self.clone() };
        MaterialSpec::Values(FluidValues {
            preset: Some(self.preset().to_owned()),
            density: Some(m.density),
            viscosity: Some(m.viscosity),
            stiffness: m.stiffness,
        })
    }
}
